/** Everything answers 503 but session reads, requests of administrators, and users who came by the side door. Off by `auth.remove('maintenance')`. */
import { type Awaitable, equal, HttpError, type Plugin, type Session } from 'authkernel/kernel'

export interface MaintenanceOptions {
  isAdmin(session: Session): Awaitable<boolean>
  /** `GET /signin?door=<text>` lets a browser sign in for ten minutes: else no administrator who is signed out could come in. */
  door?: string
  /** Seconds until it is worth while to come again. */
  retryAfter?: number
}

export function maintenancePlugin({ isAdmin, door, retryAfter = 600 }: MaintenanceOptions): Plugin {
  if (door !== undefined && door.length < 20) throw new Error('maintenancePlugin: door needs at least 20 characters.')
  return {
    name: 'maintenance',
    setup(kernel) {
      const opened = kernel.cookie('maintenance-door', { path: 'base', maxAge: 600 })
      kernel.hook('request', async ({ ctx }) => {
        if (ctx.route?.path === '/session' && ctx.route.method === 'GET') return undefined
        const given = ctx.url.searchParams.get('door')
        if (door !== undefined && given !== null && equal(given, door)) return void opened.set(ctx, await opened.seal(ctx, {}, 600))
        if (door !== undefined && (await opened.open(ctx))) return undefined
        // A store that is under maintenance itself must not turn this into an error.
        const session = await ctx.currentSession().catch(() => null)
        if (session && (await isAdmin(session))) return undefined
        throw new HttpError(503, 'We are working on it. Please come back soon.', { 'retry-after': String(retryAfter) })
      })
    },
  }
}
