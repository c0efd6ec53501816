/** What an instance is made of, seen from inside: the command line is a plugin like any other. */
import type { Auth, Context, Kernel } from 'authkernel/kernel'

const name = 'authkernel:command-line'

/** A context of the compiled instance; `ctx.app` holds providers, services and configuration. The instance is left as it was. */
export async function lookInside(auth: Auth, origin: string): Promise<Context> {
  const kernels: Kernel[] = []
  auth.use({ name, setup: (kernel) => void kernels.push(kernel) })
  const [kernel] = kernels
  if (!kernel) throw new Error('setup of a plugin was not called')
  const ctx = await kernel.contextOf(new Request(origin))
  auth.remove(name)
  return ctx
}

/** Where the app is reachable: the option, its own configuration, or an example that shows what is missing. */
export function originOf(given: string | undefined, configured: string | undefined): { origin: string; guessed: boolean } {
  const found = given ?? (configured || undefined)
  let origin = found ?? 'https://your-app.example'
  while (origin.endsWith('/')) origin = origin.slice(0, -1)
  return { origin, guessed: found === undefined }
}
