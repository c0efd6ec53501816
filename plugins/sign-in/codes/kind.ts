/** What differs between the plugins of codes: `codes` for addresses, `phone` for numbers. */
import type { Awaitable, Context, CookieHandle, Identity, InputAttributes, User } from 'authkernel/kernel'

/** The provider of email codes. */
export interface CodesConfig {
  /** Always `codes`. */
  id: string
  /** Label on the sign-in page. */
  name: string
  /** Sign-in by codes that a mail brings. */
  type: 'codes'
}
/** The provider of SMS codes. */
export interface PhoneConfig {
  /** Always `phone`. */
  id: string
  /** Label on the sign-in page. */
  name: string
  /** Sign-in by codes that a text message brings. */
  type: 'phone'
}

declare module 'authkernel/kernel' {
  interface ProviderTypes {
    codes: CodesConfig
    phone: PhoneConfig
  }
}

/** A message with a code, a link or both, as a `send` of the host gets it. */
export interface CodeMessage {
  /** The address or number, in canonical form. */
  to: string
  /** Six digits. Undefined: too many codes for it were wrong, and only the link works. */
  code: string | undefined
  /** The sign-in link; undefined where messages have none. */
  url: string | undefined
  /** The message in the language of the visitor. Of a text message it ends with `@host #123456`, which phones fill in on that site alone. */
  text: string
  /** When code and link end. */
  expires: Date
}

/** How one of the plugins differs from the other. */
export interface CodeKind {
  /** Of provider, type, page and texts. */
  readonly name: 'codes' | 'phone'
  readonly cookie: CookieHandle
  /** The one field of the form, and what it may hold. */
  readonly field: 'email' | 'phone'
  readonly input: InputAttributes
  /** Name of the page on which the code is typed. */
  readonly page: 'codes' | 'phoneCode'
  readonly path: '/codes' | '/phone'
  /** Text of the button on the sign-in page, in English. */
  readonly submit: string
  /** Throws what is missing outside of the options. */
  check?(): Awaitable<unknown>
  /** Whether messages have links beside codes. Links come alone when codes have stopped. */
  readonly link: boolean
  /** The identifier in canonical form. Throws SignInError. */
  readIdentifier(ctx: Context, typed: unknown): Awaitable<string>
  /** The user of the identifier, for the hook `signIn`. */
  findUser(ctx: Context, identifier: string): Promise<User & { id: string }>
  /** What a right code proves. `startedBy`: subject of the session when the message was requested. */
  identify(ctx: Context, identifier: string, startedBy: string | null): Promise<Identity>
  /** Counts a message before it is sent. False: there were too many. `giveBack` when it could not be sent. */
  count(ctx: Context, identifier: string): Promise<false | { end(counts: boolean): Promise<void> }>
  /** The identifier was proved in this browser. */
  recordProof(ctx: Context, identifier: string): Promise<void>
  deliver(ctx: Context, message: Omit<CodeMessage, 'text'>): Promise<void>
}
