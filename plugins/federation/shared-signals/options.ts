/** Options, checked once. */
import { assertOptions, AuthError, type CompileView } from 'authkernel/kernel'

/** What a signal may say. */
export type SignalKind =
  | 'session-revoked'
  | 'sessions-revoked'
  | 'credential-change'
  | 'account-disabled'
  | 'account-purged'
  | 'verification'
  | 'stream-updated'
  /** Experimental: Global Token Revocation. */
  | 'token-revocation'
/** Signals that may end sessions. */
export type RevokingSignal = 'session-revoked' | 'sessions-revoked' | 'credential-change' | 'account-disabled' | 'account-purged'

/** What is said of one sender. */
export interface SignalsOfProvider {
  /** Signals that end sessions: a list, or true for all of them. Default: none, a signal is an event alone. */
  revoke?: boolean | readonly RevokingSignal[] | undefined
  /** What the sender puts into the header `Authorization`, as agreed with it: `Bearer …`. Default: the signature is enough. */
  authorization?: string | undefined
  /**
   * Experimental, because it is a draft that may change: Global Token Revocation, as Okta Universal Logout sends it. `POST
   * <basePath>/global-token-revocation/<id>` ends the sessions of a person that this provider began. Default false.
   */
  experimentalGlobalTokenRevocation?: boolean | undefined
}
/** Options of `sharedSignalsPlugin`: which providers may send signals, and what a signal does. */
export interface SharedSignalsOptions {
  /** Who may send, by provider id. */
  providers: Readonly<Record<string, SignalsOfProvider>>
}
export interface Sender {
  revokes: ReadonlySet<SignalKind>
  authorization: string | undefined
  revokesGlobally: boolean
  /** Whether names of people are remembered: where there are records. */
  keeps: boolean
}

const revoking: readonly RevokingSignal[] = [
  'session-revoked',
  'sessions-revoked',
  'credential-change',
  'account-disabled',
  'account-purged',
]

/** Throws AuthError that names the option. */
export function resolveOptions(options: SharedSignalsOptions): ReadonlyMap<string, Sender> {
  assertOptions('Plugin "shared-signals"', options ?? {}, { providers: true })
  const given = Object.entries(options?.providers ?? {})
  if (given.length === 0) throw optionError('`providers` is empty. Write the ids of providers that may send: `providers: { acme: {} }`.')
  for (const [id, own] of given)
    assertOptions(
      'Plugin "shared-signals"',
      own,
      { revoke: true, authorization: true, experimentalGlobalTokenRevocation: true },
      `providers.${id}`,
    )
  return new Map(
    given.map(([id, { revoke = false, authorization, experimentalGlobalTokenRevocation: revokesGlobally = false }]) => {
      if (typeof revokesGlobally !== 'boolean')
        throw optionError(`\`providers.${id}.experimentalGlobalTokenRevocation\` must be true or false.`)
      return [id, { revokes: new Set(revokedKinds(id, revoke)), authorization, revokesGlobally, keeps: false }]
    }),
  )
}

/** Ids that no provider has are mistakes. */
export function checkProviders(senders: ReadonlyMap<string, Sender>, view: CompileView): void {
  for (const id of senders.keys()) {
    const type = view.providers.get(id)?.type
    if (type !== 'oauth' && type !== 'oidc')
      throw optionError(
        `\`providers.${id}\` names ${type ? `a provider of type ${type}` : 'no provider'}. Use the id of an oauth or oidc provider.`,
      )
  }
}

function revokedKinds(id: string, revoke: boolean | readonly RevokingSignal[]): readonly RevokingSignal[] {
  const list = revoke === true ? revoking : revoke === false ? [] : revoke
  for (const kind of list)
    if (!revoking.includes(kind)) throw optionError(`\`providers.${id}.revoke\` has ${JSON.stringify(kind)}: use ${revoking.join(', ')}.`)
  return list
}

function optionError(what: string): AuthError {
  return new AuthError(`sharedSignalsPlugin: ${what}`)
}
