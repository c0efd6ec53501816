/** Sessions that know their device: where they began, when they end, and a key that a copied cookie does not have. */
import { type Context, type First, jobFor, type Kernel, type OfTenant, type Plugin, type User } from 'authkernel/kernel'
import { shortCookie } from './binding.ts'
import { addMail } from './notice.ts'
import { type DeviceSessionsOptions, resolveOptions } from './options.ts'
import { addRoutes, type SessionFinder } from './routes.ts'
import { listLiveRows } from './rows.ts'
import { decorateSession, type SeenSession, toSeenSession } from './strategy.ts'
import { deviceSessionTable, kind } from './tables.ts'

export type { DeviceSessionsOptions } from './options.ts'
export type { SeenSession } from './strategy.ts'
export type { DeviceSessionRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /**
     * A session is used from another address or browser than before; asked once for each change. `refuse` ends it; `stepUp`: what was proved counts no more until it is proved
     * again; undefined lets it pass.
     */
    deviceChanged: First<{ session: SeenSession; address: string | null; userAgent: string | null }, 'refuse' | 'stepUp', Context>
  }
  interface Events {
    /** A user signed in from a browser that was not known for this user. */
    deviceNew: { user: User; address: string | null; userAgent: string | null }
    /** A browser bound a session to a key, proved that it has the key, or failed to: there was nothing to register for (`offer`), or the signature is wrong. */
    deviceBinding: {
      what: 'registered' | 'refreshed' | 'failed'
      reason?: 'offer' | 'signature'
      sessionId: string | null
      userId: string | null
    }
  }
}

/** A session as its owner sees it. */
export interface ListedDevice extends SeenSession {
  /** Whether it is the one of the given request. */
  current: boolean
}
/** What the plugin puts on `auth`. */
export interface DeviceSessionsApi {
  devices: {
    /** Sessions of a user that have not ended, the newest first; none when signed out. `tenant` names the tenant where there are several. */
    list(who: Request | ({ userId: string } & OfTenant)): Promise<ListedDevice[]>
  }
}

/**
 * Adds `auth.devices`, the hook `deviceChanged` and, with `bind`, the routes `/dbsc/register` and `/dbsc/refresh`. Needs the service `records` and a session strategy
 * that ends sessions by id: `session.revocable` with jwt. Throws AuthError for options of the wrong shape.
 */
export function deviceSessionsPlugin(options: DeviceSessionsOptions = {}): Plugin<DeviceSessionsApi> {
  const resolved = resolveOptions(options)
  return {
    name: 'device-sessions',
    requires: ['records', 'session:revoke:id', 'session:attributes', 'session:kinds'],
    setup(kernel) {
      let findSession: SessionFinder = () => Promise.resolve(null)
      kernel.records('deviceSession', deviceSessionTable)
      kernel.sessionKind(kind)
      kernel.declareEvent('deviceNew', 'deviceBinding')
      kernel.declareHook('deviceChanged', 'first')
      kernel.cookie(shortCookie)
      kernel.decorate('session', (inner, view) => {
        findSession = async (ctx) => (await inner.id?.(ctx)) ?? null
        return decorateSession(inner, resolved, view.service('mailTransport') !== undefined)
      })
      if (resolved.bind) addRoutes(kernel, resolved, (ctx) => findSession(ctx))
      addMail(kernel)
      return { devices: { list: (who) => listDevices(kernel, who) } }
    },
  }
}

async function listDevices(kernel: Kernel, who: Request | ({ userId: string } & OfTenant)): Promise<ListedDevice[]> {
  if (!(who instanceof Request)) {
    const { userId } = who
    const ctx = await kernel.contextOf(jobFor('device-sessions', who))
    return (await listLiveRows(ctx, ctx.session, userId)).map((row) => ({ ...toSeenSession(row), current: false }))
  }
  const ctx = await kernel.contextOf(who)
  const [user, current] = [await ctx.session.user(ctx), await ctx.session.id?.(ctx)]
  return user?.id === undefined
    ? []
    : (await listLiveRows(ctx, ctx.session, user.id)).map((row) => ({ ...toSeenSession(row), current: row.sessionId === current }))
}
