/** Sign-in for devices without a browser or a keyboard: televisions, consoles, command lines (RFC 8628). */
import { AuthError, type Context, HttpError, json, type Plugin, type User } from 'authkernel/kernel'
import { decide, enter } from './approve.ts'
import { messages } from './messages.ts'
import { declareNotice } from './notice.ts'
import { type DeviceFlowOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { grantType, poll } from './poll.ts'
import { start } from './start.ts'
import { table } from './table.ts'

export type { DeviceFlowOptions } from './options.ts'
export type { DeviceCodeRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A device asked for a code. */
    deviceFlowStarted: { clientId: string }
    /** Somebody let it in. */
    deviceFlowApproved: { user: User; clientId: string }
    /** Somebody refused it. */
    deviceFlowDenied: { user: User; clientId: string }
  }
}

/**
 * Adds `/device`, where people type the code of a device, and the grant of RFC 8628. Needs bearerPlugin, which gives the tokens. Somebody who is
 * sent a code of a stranger may be tricked into approving it: list few apps, with few scopes. Throws AuthError for options of the wrong shape.
 */
export function deviceFlowPlugin(options: DeviceFlowOptions): Plugin {
  const resolved = resolveOptions(options ?? {})
  return {
    name: 'device-flow',
    requires: ['records', 'limit', 'pages', 'appTokens', ...(resolved.stepUp ? (['session:attributes'] as const) : [])],
    setup(kernel) {
      kernel.declareEvent('deviceFlowStarted', 'deviceFlowApproved', 'deviceFlowDenied')
      kernel.records('deviceCode', table)
      kernel.messages(messages)
      declareNotice(kernel)
      addPages(kernel)
      kernel.decorate('appTokens', (inner) => {
        for (const id of resolved.apps) {
          if (!inner.client(id)) throw new AuthError(`Plugin "device-flow": \`apps\` names "${id}", which is no app of bearerPlugin.`)
        }
        return {
          grant: (ctx, client, form) =>
            form.get('grant_type') === grantType && resolved.apps.has(client.id)
              ? poll(ctx, inner, client, form)
              : inner.grant(ctx, client, form),
          async metadata(ctx) {
            const members = await inner.metadata(ctx)
            const types = (members['grant_types_supported'] ?? []) as readonly string[]
            return { ...members, device_authorization_endpoint: `${ctx.base}/oauth/device`, grant_types_supported: [...types, grantType] }
          },
        }
      })
      // What the user approved and no device has fetched ends with the access of the user.
      kernel.onAccessEnd('pending', async (ctx, { which }) =>
        'userId' in which ? ctx.records('deviceCode').deleteWhere({ where: { userId: which.userId } }) : 0,
      )
      kernel.route({
        method: 'POST',
        path: '/oauth/device',
        csrf: 'bearer',
        cors: { origins: 'any' },
        body: { bytes: 16_384 },
        handler: (ctx) => start(ctx, resolved).catch(refused),
        failure,
      })
      kernel.route({ method: 'POST', path: '/device', handler: (ctx) => enter(ctx, resolved) })
      kernel.route({ method: 'POST', path: '/device/decide', handler: (ctx) => decide(ctx, resolved) })
    },
  }
}

/** What is wrong with the request itself, a body that is too long for example (RFC 6749 section 5.2). */
function refused(error: unknown): Response {
  if (!(error instanceof HttpError) || error.status >= 500) throw error
  return json({ error: 'invalid_request', error_description: error.message }, error.status, error.headers)
}

function failure(_ctx: Context, { status }: AuthError): Response {
  return json({ error: status < 500 ? 'invalid_request' : 'server_error' }, status)
}
