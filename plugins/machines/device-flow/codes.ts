/** User codes: eight letters that a user reads from one screen and types on another (RFC 8628 section 6.1). */
import { type AnyContext, RecordConflict, type Runtime } from 'authkernel/kernel'
import type { DeviceCode } from './tables.ts'

// Without vowels, so that no words arise: 20 letters, 34 bits.
const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const length = 8
const maxTries = 5

/** Calls `create` with a new code, and with another one where a device has it already. Answers the code. */
export async function createUserCode(runtime: Pick<Runtime, 'random'>, create: (userCode: string) => Promise<unknown>): Promise<string> {
  for (let tries = 1; ; tries++) {
    const userCode = makeUserCode(runtime)
    try {
      await create(userCode)
      return userCode
    } catch (error) {
      if (!(error instanceof RecordConflict) || tries === maxTries) throw error
    }
  }
}

/** `WDJB-MJHT`. */
function makeUserCode(runtime: Pick<Runtime, 'random'>): string {
  let code = ''
  while (code.length < length) {
    // Rejection sampling: 20 does not divide 256.
    for (const byte of runtime.random(length)) if (byte < 240 && code.length < length) code += letters[byte % 20]
  }
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

/** As it was made, whatever the user typed around it; undefined: no user code. */
export function readUserCode(typed: unknown): string | undefined {
  if (typeof typed !== 'string' || typed.length > 40) return undefined
  const code = typed.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return code.length === length && [...code].every((letter) => letters.includes(letter))
    ? `${code.slice(0, 4)}-${code.slice(4)}`
    : undefined
}

/** What is stored of a code. */
export function digestCode(ctx: AnyContext, kind: 'device' | 'user', code: string): Promise<string> {
  return ctx.digest(`device-flow.${kind}`, code)
}

/** The row of a code, also when the secret was rotated meanwhile. */
export async function findCode(ctx: AnyContext, kind: 'device' | 'user', code: string): Promise<DeviceCode | null> {
  for (const hash of await ctx.digests(`device-flow.${kind}`, code)) {
    const row = await ctx.records('deviceCode').get(kind === 'device' ? hash : { userCode: hash })
    if (row) return row
  }
  return null
}
