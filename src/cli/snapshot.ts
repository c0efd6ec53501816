/** What an instance is made of, seen from inside: the command line is a plugin like any other. */
import type { Auth, Context, Kernel } from 'authkernel/kernel'

const name = 'authkernel:command-line'

/**
 * A context of the compiled instance, also of one with a mistake in its configuration; `ctx.app` holds providers, services and configuration. The
 * instance is left as it was.
 */
export async function lookInside(auth: Auth, origin: string): Promise<Context> {
  const kernels: Kernel[] = []
  let seen: Context | undefined
  auth.use({
    name,
    setup(kernel) {
      kernels.push(kernel)
      // An observer sees a request before its configuration is checked.
      kernel.observe({
        request: async (ctx) => {
          seen = ctx
          return new Response()
        },
      })
    },
  })
  const [kernel] = kernels
  if (!kernel) throw new Error('setup of a plugin was not called')
  await auth.handler(new Request(origin))
  const ctx = seen ?? (await kernel.contextOf(new Request(origin)))
  auth.remove(name)
  return ctx
}

/** Where the app is reachable: the option, its own configuration, or an example that shows what is missing. */
export function originOf(given: string | undefined, configured: string | undefined): { origin: string; isGuess: boolean } {
  const found = given ?? (configured || undefined)
  let origin = found ?? 'https://your-app.example'
  while (origin.endsWith('/')) origin = origin.slice(0, -1)
  return { origin, isGuess: found === undefined }
}
