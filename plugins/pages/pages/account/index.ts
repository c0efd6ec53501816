/** The account page: what users see and change of their own account. Sections come from here and from plugins. */
import type { AccountSection, AccountSectionView, Content, Context, PageDraw, PageTools, Sources } from 'authkernel/kernel'
import { markup } from '../ui/html.ts'
import { createNeeds, noteNeeds } from '../ui/policy.ts'
import { partsScript } from '../ui/script.ts'
import { deleteSection } from './delete.ts'
import { disconnectPage, methodsSection } from './methods.ts'
import { personOf, profileSection } from './profile.ts'
import { sessionsSection } from './sessions.ts'

const builtin = [profileSection, methodsSection, sessionsSection, deleteSection].map((section) => ({ ...section, plugin: 'pages' }))

/** `GET /account`. */
export const accountPage: PageDraw = async (ctx, tools, params) => {
  if (params['disconnect'] !== undefined) return disconnectPage(ctx, tools, params)
  const { done, error } = params
  const person = await personOf(ctx)
  if (!person) return ctx.page('signIn', { callbackUrl: `${ctx.base}/account` })
  const { say, alert, card, toast } = tools
  const views = await Promise.all(sectionsOf(ctx).map(async (section) => ({ section, view: await drawSection(ctx, tools, section) })))
  const visible = views.flatMap(({ section, view }) => (view ? [{ id: section.id, view }] : []))
  const body: Content = [
    alert(error),
    done !== undefined && toast(say('account.done')),
    visible.map(({ id, view }) => {
      const { heading, text, tags, actions, danger } = view
      return card({ id, title: heading, text, tags, actions, danger, body: view.body })
    }),
  ]
  return {
    title: say('account.title'),
    lead: person.email ?? person.name,
    layout: 'wide',
    navigation: {
      label: say('account.navigation'),
      items: visible.map(({ id, view }) => ({ label: view.label ?? view.heading, to: `#${id}` })),
    },
    body,
    scripts: [partsScript, ...visible.flatMap(({ view }) => view.scripts ?? [])],
    forms: visible.flatMap(({ view }) => view.forms ?? []),
    sources: mergeSources(visible.map(({ view }) => view.sources ?? {})),
  }
}

/** In their order; a section of a plugin with the id of a built-in one takes its place. */
function sectionsOf({ app }: Context): (AccountSection & { plugin: string })[] {
  const { sections } = app.parts
  const own = builtin.filter(({ id }) => !sections.some((section) => section.id === id))
  return [...own, ...sections].sort(({ order: a = 500 }, { order: b = 500 }) => a - b)
}

/** One part that fails must not take the page with it: users would lose the button that ends an attacker's session. */
async function drawSection(
  ctx: Context,
  tools: PageTools,
  section: AccountSection & { plugin: string },
): Promise<AccountSectionView | undefined> {
  try {
    const view = await section.draw(ctx, tools)
    if (view) noteNeeds(createNeeds(), view, `The account section "${section.id}" of plugin "${section.plugin}"`)
    return view
  } catch (error) {
    ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
    return { heading: tools.say(`account.${section.id}`), body: markup`<p class="note">${tools.say('account.unavailable')}</p>` }
  }
}

function mergeSources(all: readonly Sources[]): Sources {
  const result: Record<string, string[]> = {}
  for (const sources of all) for (const [kind, origins] of Object.entries(sources)) (result[kind] ??= []).push(...(origins as string[]))
  return result
}
