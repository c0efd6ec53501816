/**
 * The marks of a session, as a part of its token: `!kinds!until!random`. Every adapter keeps the token whole and finds a session by the whole of it, so the
 * marks cannot get lost, and a visitor who changes them has no session. Ordinary sessions have none. No `~`: it begins the names of tenants.
 */
import type { SessionAttributes, SessionMarks } from 'authkernel/kernel'

const noMarks: SessionMarks = {}

/** Whether the token of an ordinary session would look marked. */
export function looksMarked(token: string): boolean {
  return token.startsWith('!')
}

/** The token of a session with the marks of its attributes. */
export function markedToken({ kinds = [], until }: SessionAttributes, token: string): string {
  if (kinds.length === 0 && until === undefined) return token
  return `!${kinds.join('-')}!${until === undefined ? '' : until.toString(36)}!${token}`
}

/**
 * What a token says; `stored` is its form in the store, which an adapter may keep hashed. A database that takes different texts for equal could
 * find a marked session by a token without marks: what the store says counts then, and where both differ nothing does.
 */
export function marksOf(token: string, stored: string | undefined): SessionMarks {
  const one = readMarks(token)
  const other = stored === undefined || stored === token ? undefined : readMarks(stored)
  if (!one || !other || stored === undefined) return one ?? other ?? noMarks
  return token.slice(0, token.lastIndexOf('!')) === stored.slice(0, stored.lastIndexOf('!')) ? one : { kinds: [''] }
}

function readMarks(token: string): SessionMarks | undefined {
  if (!looksMarked(token)) return undefined
  const [, kinds = '', until = ''] = token.split('!', 3)
  const end = until === '' ? undefined : Number.parseInt(until, 36)
  return { kinds: kinds === '' ? [] : kinds.split('-'), ...(end !== undefined && { until: Number.isNaN(end) ? 0 : end }) }
}
