/** What an instance is made of, seen from inside: the command line is a plugin like any other. */
import type { Auth, Context } from 'authkernel/kernel'

/** A context of the compiled instance; `ctx.app` holds providers, services and configuration. */
export function lookInside(auth: Auth, origin: string): Promise<Context> {
  const name = 'authkernel:command-line'
  const { look } = auth.use({ name, setup: (kernel) => ({ look: (request: Request) => kernel.context(request) }) })
  return look(new Request(origin))
}

/** Where the app is reachable: the option, its own configuration, or an example that shows what is missing. */
export function originOf(given: string | undefined, configured: string | undefined): { origin: string; guessed: boolean } {
  const origin = given ?? (configured || undefined)
  return { origin: (origin ?? 'https://your-app.example').replace(/\/+$/, ''), guessed: origin === undefined }
}
