/** What is stored of codes: the message that is out for an identifier, and how often codes for it were wrong. */
import { type AnyContext, type RecordSpec, type Row, sha256, toHex } from 'authkernel/kernel'

/**
 * One message with a code, a link or both. Its id is made of plugin, identifier and browser: another browser that asks for the same address voids nothing. A
 * browser that asks again voids its own older message.
 */
export interface SignInCodeRow {
  /** An address or a number, in canonical form. */
  identifier: string
  /** SHA-256 of the value in the browser that asked. */
  browser: string
  /** Digest of the code; null: this message has none. */
  code: string | null
  /** Digest of the token in the link; of a token that is never sent where there is no link. */
  link: string
  /** Codes that were tried. */
  tries: number
  /** Where the sign-in goes. */
  target: string
  created: Date
  expires: Date
}
/** Wrong codes for an identifier. */
export interface SignInCodeGuessRow {
  /** Since `since`, at most a day. */
  recent: number
  since: Date
  /** Without a right one in between. */
  failures: number
  /** No more codes until a link was used. */
  stopped: boolean
}

declare module 'authkernel/kernel' {
  interface Records {
    signInCode: SignInCodeRow
    signInCodeGuess: SignInCodeGuessRow
  }
}

const digest = { type: 'string', max: 64 } as const

export const codeTable: RecordSpec<SignInCodeRow> = {
  id: 'given',
  fields: {
    identifier: { type: 'string', max: 254 },
    browser: digest,
    code: { ...digest, optional: true },
    link: digest,
    tries: { type: 'integer' },
    target: { type: 'text' },
    created: { type: 'date' },
    expires: { type: 'date' },
  },
  unique: [['link']],
  expires: 'expires',
}
export const guessTable: RecordSpec<SignInCodeGuessRow> = {
  id: 'given',
  fields: { recent: { type: 'integer' }, since: { type: 'date' }, failures: { type: 'integer' }, stopped: { type: 'boolean' } },
}

/** The id of the message that a browser asked for; `browser` as stored. */
export async function messageId(plugin: string, identifier: string, browser: string): Promise<string> {
  return toHex(await sha256(`${plugin} ${identifier} ${browser}`))
}

/** The id of the count of an identifier, whatever browsers ask. */
export async function guessId(plugin: string, identifier: string): Promise<string> {
  return toHex(await sha256(`${plugin} ${identifier}`))
}

/** The message of a link that is out, under any of the secrets; null: none, used or too old. */
export async function findByLink(ctx: AnyContext, token: unknown): Promise<Row<SignInCodeRow> | null> {
  if (typeof token !== 'string' || !/^[0-9a-f]{64}$/.test(token)) return null
  for (const link of await ctx.digests('sign-in link', token)) {
    const row = await ctx.records('signInCode').get({ link })
    if (row) return row
  }
  return null
}
