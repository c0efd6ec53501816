/** Why a message of an identity provider was rejected. */
import { AuthError, type ErrorRow } from 'authkernel/kernel'

/** What a rejected message was checked for. */
export type SamlCheck =
  | 'form'
  | 'xml'
  | 'signature'
  | 'algorithm'
  | 'encryption'
  | 'status'
  | 'issuer'
  | 'destination'
  | 'recipient'
  | 'audience'
  | 'time'
  | 'request'
  | 'replay'
  | 'subject'
  | 'conditions'
  | 'context'
  | 'configuration'

/** What is known of a rejection. None of it is secret, and none of it reaches the browser. */
export interface SamlRefusalFacts {
  /** What was checked. */
  readonly check: SamlCheck
  /** What the message should have said. */
  readonly expected?: string | undefined
  /** What it says; at most 300 characters. */
  readonly received?: string | undefined
  /** What to change, and where. */
  readonly fix?: string | undefined
}

/** A SAML message that does not count. `cause` has `provider`, `check`, `expected`, `received` and `fix`. The browser sees a general error with status 400. */
export class SamlResponseRefused extends AuthError {
  static override type = 'SamlResponseRefused'
  static override row: ErrorRow = { page: 'error', status: 400 }
  constructor(message: string, facts: SamlRefusalFacts & { provider?: string }) {
    super(message, { cause: Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) })
  }
}
/** The identity provider answered that it signs the user in to this app not now or not at all. `cause` is as that of SamlResponseRefused. */
export class SamlStatusError extends AuthError {
  static override type = 'SamlStatusError'
  static override row: ErrorRow = { page: 'error', status: 403, visible: true }
}
/** Metadata of an identity provider that cannot be used: no XML, no identity provider in it, no certificate, or not reachable. */
export class SamlMetadataError extends AuthError {
  static override type = 'SamlMetadataError'
  static override row: ErrorRow = { page: 'error', status: 500 }
}

/** The metadata describes another identity provider than before. `cause` is as that of SamlResponseRefused; `check` is `issuer`. */
export class SamlProviderChanged extends AuthError {
  static override type = 'SamlProviderChanged'
  static override row: ErrorRow = { page: 'error', status: 403, visible: true }
  constructor(provider: string, expected: string, received: string) {
    const fix = 'If the company uses another identity provider now, make a new connection: accounts rest on the entity id.'
    super(`The metadata of provider "${provider}" is of the identity provider "${received.slice(0, 300)}", not of "${expected}". ${fix}`, {
      cause: { provider, check: 'issuer', expected, received: received.slice(0, 300), fix },
    })
  }
}

/** A text that is no XML of the accepted subset. */
export class XmlError extends Error {
  override name = 'XmlError'
}

/** Thrown inside the checks, without the provider: the border adds it. */
export class Refusal extends Error {
  readonly facts: SamlRefusalFacts
  constructor(message: string, facts: SamlRefusalFacts) {
    super(message)
    this.facts = { ...facts, ...(facts.received !== undefined && { received: facts.received.slice(0, 300) }) }
  }
}

/** Throws `Refusal` unless two texts are the same. */
export function assertSame(check: SamlCheck, what: string, received: string | undefined, expected: string, fix: string): void {
  if (received === expected) return
  throw new Refusal(`${what} is ${received === undefined ? 'missing' : 'another one'}.`, { check, expected, received, fix })
}
