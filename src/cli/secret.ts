/** `authkernel secret`: makes a secret, and puts it where the app reads it. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Report, UsageError, type Setting } from './report.ts'

/** Options of the command. */
export interface SecretOptions {
  write?: string | undefined
  rotate?: boolean | undefined
}

// AUTH_SECRET, then AUTH_SECRET_1 to _3, each newer than the one before (row 54).
const names = ['AUTH_SECRET', 'AUTH_SECRET_1', 'AUTH_SECRET_2', 'AUTH_SECRET_3'] as const

/** 256 bits and one byte, so that base64 needs no padding: 44 characters. */
export function secret({ write, rotate }: SecretOptions, { cwd }: Pick<Setting, 'cwd'>): Report {
  const value = randomBytes(33).toString('base64')
  if (write === undefined) {
    if (rotate) throw new UsageError('--rotate needs --write <file>: it adds to the secrets that stand there.')
    return { data: { secret: value }, lines: [`AUTH_SECRET="${value}"`] }
  }
  const file = resolve(cwd, write === '' ? '.env.local' : write)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const name = nextName(text, file, rotate === true)
  const separator = text === '' || text.endsWith('\n') ? '' : '\n'
  // Other users of the machine may not read it.
  writeFileSync(file, `${text}${separator}${name}="${value}"\n`, { mode: 0o600 })
  const after = name === 'AUTH_SECRET' ? [] : ['Sessions under the older secrets stay valid. Remove those when their sessions have ended.']
  return { data: { file, name }, lines: [`${name} was written to ${file}. Keep this file out of version control.`, ...after] }
}

function nextName(text: string, file: string, rotate: boolean): string {
  const taken = names.filter((name) => new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=\\s*\\S`, 'm').test(text))
  if (taken.length === 0) return names[0]
  if (!rotate) throw new UsageError(`${file} has ${taken.at(-1)} already. To replace it without ending all sessions, add --rotate.`)
  const next = names[names.indexOf(taken.at(-1) ?? names[0]) + 1]
  if (!next)
    throw new UsageError(
      `${file} has all of ${names.join(', ')}. Remove the oldest value, move the others down by one name, and try again.`,
    )
  return next
}
