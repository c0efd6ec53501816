/** Asks whether the paths below `/.well-known/` reach the app: a binding that is mounted below another path does not see them. */
import type { Auth, RouteInfo } from 'authkernel/kernel'
import type { Finding } from './report.ts'

const patience = 5_000
const connect = 'app.use(auth.{name}.root)'
const lines: Readonly<Record<string, string>> = {
  express: connect,
  koa: connect,
  hono: connect,
  h3: 'app.use((event) => auth.h3.root(event))',
  node: 'await auth.node.root(req, res), before your own routes',
  nuxt: 'server/middleware/auth.ts with auth.nuxt.handler',
  fastify: 'fastify.register(auth.fastify.root)',
  next: 'export const { GET, HEAD, OPTIONS } = auth.next.root in app/.well-known/[...path]/route.ts',
  'solid-start': 'src/routes/.well-known/[...path].ts with the handler of the binding',
}

/** Each path that the app answers itself and its address answers otherwise. One that the app has nothing for is not asked. */
export async function askRootPaths(
  auth: Pick<Auth, 'handler'>,
  routes: readonly RouteInfo[],
  origin: string,
  plugins: readonly { name: string }[],
  fetch: typeof globalThis.fetch,
): Promise<Finding[]> {
  const name = plugins.map((plugin) => plugin.name).find((plugin) => plugin in lines)
  const line = name === undefined ? 'hand requests for this path to `auth.handler`' : (lines[name] ?? '').replace('{name}', name)
  const answers = await Promise.all(
    routes.map(async ({ path, optional }): Promise<Finding | undefined> => {
      const url = origin + path
      const wanted = (await auth.handler(new Request(url))).status
      if (wanted === 404) return undefined
      const error = (said: string): Finding => ({
        level: optional ? 'warning' : 'error',
        code: 'root-path',
        message: `${url} ${said} Add: ${line}`,
      })
      try {
        const { status } = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(patience) })
        return status === wanted ? undefined : error(`answered ${status}, the app ${wanted}: requests do not reach authkernel.`)
      } catch (failure) {
        return error(`does not answer (${failure instanceof Error ? failure.message : String(failure)}).`)
      }
    }),
  )
  return answers.filter((finding) => finding !== undefined)
}
