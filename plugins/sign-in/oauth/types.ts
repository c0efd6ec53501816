/** Names that the files of this folder share. Types only. */
import type { ProviderOf } from 'authkernel/kernel'

/** A provider of one of the two types that this folder signs people in with. */
export type OAuthProvider = ProviderOf<'oauth'> | ProviderOf<'oidc'>

/** A JSON object. */
export type JsonObject = Record<string, unknown>

/** Values that must not reach a log: secrets, codes, tokens. Filled as a flow learns them. */
export type Secrets = Set<string>
/** What a step-up demands of the provider's answer. */
export interface StepUp {
  /** The account of the session. */
  sub: string
  /** Seconds. */
  maxAge: number
  acr?: readonly string[]
}
