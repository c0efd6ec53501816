/** The sender of a mail: an address, and the name shown beside it. */
import { readAddress, toAsciiAddress } from 'authkernel/kernel'

/** An address with the name shown beside it. */
export interface Mailbox {
  address: string
  name: string | undefined
}

const maxInput = 512

/** Reads `from`: `ada@mail.example` or `Ada <ada@mail.example>`. Throws an Error that says what is wrong. */
export function parseMailbox(value: string): Mailbox {
  // The name becomes part of a header: no line breaks, no second address (GHSA-hwqf-gcqm-7353).
  if (typeof value !== 'string' || value.length > maxInput || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(value)) {
    throw new Error('it is no text, too long, or holds control characters')
  }
  const text = value.trim()
  const open = text.indexOf('<')
  if (open === -1) return { address: toAsciiAddress(asWritten(text)), name: undefined }
  if (!text.endsWith('>')) throw new Error('text follows the address')
  const name = unquoteName(text.slice(0, open).trim())
  return { address: toAsciiAddress(asWritten(text.slice(open + 1, -1))), name: name === '' ? undefined : name }
}

// A sender may have capitals.
function asWritten(text: string): string {
  return readAddress(text, { international: true, normalize: (typed) => typed })
}

function unquoteName(name: string): string {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(name)
  if (quoted) return (quoted[1] ?? '').replaceAll(/\\(["\\])/g, '$1')
  // Specials outside quotes could name a second mailbox or open a group or a comment.
  if (/["<>@,;:\\()[\]]/.test(name)) throw new Error('the name must be in quotes when it holds punctuation')
  return name
}
