/** The configuration, with warnings, and without secrets. */
import type { PageView } from 'authkernel/kernel'
import type { PageRequest } from './pages-frame.ts'

/** `GET /admin/configuration`. */
export async function drawConfiguration({ acts, ctx, tools }: PageRequest): Promise<PageView> {
  const { say, card, row, facts, tag, table, emptyState } = tools
  const { options, plugins, providers, routes, services, records, warnings } = await acts.getConfiguration(ctx.request)
  const list = (title: string, names: readonly string[], rows: readonly (readonly string[])[]) =>
    card({ title, body: table({ label: title, path: '/admin/configuration', columns: names.map((name) => ({ title: name })), rows }) })
  return {
    title: say('admin.configuration'),
    lead: say('admin.configuration-text'),
    body: [
      card({
        title: say('admin.warnings'),
        body:
          warnings.length === 0
            ? emptyState({ title: say('admin.warnings-none') })
            : warnings.map(({ code, text }) => row({ title: code, text, tags: tag(say('admin.warning'), 'warn') })),
      }),
      card({
        title: say('admin.options'),
        body: facts(Object.entries(options).map(([name, value]) => [name, value === null ? '–' : String(value)] as const)),
      }),
      list(
        say('admin.providers') as string,
        ['id', 'name', 'type'],
        providers.map(({ id, name, type }) => [id, name, type]),
      ),
      list(
        say('admin.plugins') as string,
        ['name', 'layer'],
        plugins.map(({ name, layer }) => [name, layer]),
      ),
      list(
        say('admin.services') as string,
        ['name', 'plugin'],
        Object.entries(services).map(([name, plugin]) => [name, plugin]),
      ),
      list(
        say('admin.records') as string,
        ['name', 'plugin'],
        records.map(({ name, plugin }) => [name, plugin]),
      ),
      list(
        say('admin.routes') as string,
        ['method', 'path', 'plugin'],
        routes.map(({ method, path, plugin }) => [method, path, plugin]),
      ),
    ],
  }
}
