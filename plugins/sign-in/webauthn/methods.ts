/** `client.passkeys`: the passkeys of the user who is signed in. */
import type { ClientPart, Route, Wire } from 'authkernel/kernel'
import { loadAccount } from './pages.ts'
import type { Passkey } from './passkeys.ts'

/**
 * The methods of the client. Each rejects with status 401 when signed out, and for an API key, an app, and an administrator who acts as the user. `add` and `remove` reject
 * with `StepUpRequired` (403) when the proof of the session is older than 15 or 5 minutes: lead the user to the sign-in page first.
 */
export type PasskeysClient = ClientPart<{
  readonly passkeys: {
    /**
     * Adds a passkey in this browser. `conditional`: without a question, where the password manager has just filled in a password; null when the browser or its
     * password manager makes none. Rejects with the browser's DOMException: NotAllowedError when cancelled, InvalidStateError when the device has one already.
     */
    add(input: { name?: string; provider?: string; conditional: true }): Promise<Wire<Passkey> | null>
    add(input?: { name?: string; provider?: string }): Promise<Wire<Passkey>>
    /** The newest first. */
    list(): Promise<Wire<Passkey>[]>
    /** False: no such passkey. Rejects with status 400 for a name that is empty or longer than 100 characters. */
    rename(input: { id: string; name: string }): Promise<boolean>
    /** False: no such passkey. The other sessions of the user end. Rejects with `LastAccount` (409) for the last sign-in method. */
    remove(input: { id: string }): Promise<boolean>
  }
}>

/** Routes of the methods that are requests; `add` is a ceremony of the browser, in `src/client/passkey.ts`. Their code comes with the first of them. */
export const methodRoutes: readonly Route[] = [createRoute('GET', 'list'), createRoute('POST', 'rename'), createRoute('POST', 'remove')]

function createRoute(method: 'GET' | 'POST', name: 'list' | 'rename' | 'remove'): Route {
  const load = async (): Promise<Route> => (await loadAccount()).methodRoutes[name]
  return {
    method,
    path: `/passkeys/${name}`,
    client: `passkeys.${name}`,
    ...(method === 'POST' && { body: { types: ['json'] } }),
    handler: async (ctx) => (await load()).handler(ctx),
    failure: async (ctx, error) => (await load()).failure?.(ctx, error),
  }
}
