/** Sessions that know their device: where they began, when they end, and a key that a copied cookie does not have. */
import { type Context, type First, jobFor, type Kernel, type OfTenant, type Plugin, type User } from 'authkernel/kernel'
import { addRoutes, type SessionFinder } from './bind.ts'
import { shortCookie } from './cookie.ts'
import { messages } from './messages.ts'
import { type DeviceSessionsOptions, resolveOptions } from './options.ts'
import { listLiveRows, type SeenSession, toSeenSession, decorateSession } from './strategy.ts'
import { deviceSessionTable, kind } from './table.ts'

export type { DeviceSessionsOptions } from './options.ts'
export type { SeenSession } from './strategy.ts'
export type { DeviceSessionRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Hooks {
    /**
     * A session is used from another address or browser than before; asked once for each change. `refuse` ends it; `stepUp`: what was proved counts no more until it is proved
     * again; undefined lets it pass.
     */
    deviceChanged: First<{ session: SeenSession; address: string | null; userAgent: string | null }, 'refuse' | 'stepUp', Context>
  }
  interface Events {
    /** Somebody signed in from a browser that was not known for this person. */
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
    /** Sessions of a person that have not ended, the newest first; nobody signed in: none. `tenant` names the tenant where there are several. */
    list(who: Request | ({ userId: string } & OfTenant)): Promise<ListedDevice[]>
  }
}

/**
 * Adds `auth.devices`, the hook `deviceChanged` and, with `bind`, the routes `/dbsc/register` and `/dbsc/refresh`. Needs the service `records` and a session strategy
 * that ends sessions by id: `session.revocable` with jwt. Throws AuthError for options of the wrong shape.
 */
export function deviceSessionsPlugin(options: DeviceSessionsOptions = {}): Plugin<DeviceSessionsApi> {
  const settled = resolveOptions(options)
  return {
    name: 'device-sessions',
    requires: ['records', 'session:revoke:id', 'session:attributes', 'session:kinds'],
    setup(kernel) {
      let find: SessionFinder = () => Promise.resolve(null)
      kernel.records('deviceSession', deviceSessionTable)
      kernel.sessionKind(kind)
      kernel.declareEvent('deviceNew', 'deviceBinding')
      kernel.declareHook('deviceChanged', 'first')
      kernel.cookie(shortCookie)
      kernel.decorate('session', (inner, view) => {
        find = async (ctx) => (await inner.id?.(ctx)) ?? null
        return decorateSession(inner, settled, view.service('mailTransport') !== undefined)
      })
      if (settled.bind) addRoutes(kernel, settled, (ctx) => find(ctx))
      kernel.messages(messages)
      kernel.mailTemplate('device-sessions.new', {
        subject: 'device-sessions.mail.subject',
        lines: ['device-sessions.mail.text', 'device-sessions.mail.browser', 'device-sessions.mail.address'],
        button: { text: 'device-sessions.mail.open', url: 'url', optional: true },
        note: 'device-sessions.mail.not-you',
      })
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
