/** Sign-in for devices without a browser or a keyboard: televisions, consoles, command lines (RFC 8628). */
import type { Plugin, User } from 'authkernel/kernel'
import { declareNotice } from './approve.ts'
import { addGrant } from './grant.ts'
import { messages } from './messages.ts'
import { type DeviceFlowOptions, resolveOptions } from './options.ts'
import { addPages } from './pages.ts'
import { addRoutes } from './routes.ts'
import { deviceCodeTable } from './tables.ts'

export type { DeviceFlowOptions } from './options.ts'
export type { DeviceCodeRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A device asked for a code. */
    deviceFlowStarted: { clientId: string }
    /** A user let it in. */
    deviceFlowApproved: { user: User; clientId: string }
    /** A user rejected it. */
    deviceFlowDenied: { user: User; clientId: string }
  }
}

/**
 * Adds `/device`, where users type the code of a device, and the grant of RFC 8628. Needs bearerPlugin, which gives the tokens. An attacker may send
 * users a code and trick them into approving it: list few apps, with few scopes. Throws AuthError for options of the wrong shape.
 */
export function deviceFlowPlugin(options: DeviceFlowOptions): Plugin {
  const resolved = resolveOptions(options ?? {})
  return {
    name: 'device-flow',
    requires: ['records', 'limit', 'pages', 'appTokens', ...(resolved.stepUp ? (['session:attributes'] as const) : [])],
    setup(kernel) {
      kernel.declareEvent('deviceFlowStarted', 'deviceFlowApproved', 'deviceFlowDenied')
      kernel.records('deviceCode', deviceCodeTable)
      kernel.messages(messages)
      declareNotice(kernel)
      addPages(kernel)
      addGrant(kernel, resolved)
      // What the user approved and no device has fetched ends with the access of the user.
      kernel.onAccessEnd('pending', async (ctx, { which }) =>
        'userId' in which ? ctx.records('deviceCode').deleteWhere({ where: { userId: which.userId } }) : 0,
      )
      addRoutes(kernel, resolved)
    },
  }
}
