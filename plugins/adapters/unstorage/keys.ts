/** Names of keys. Prefixes are those of `@auth/unstorage-adapter`; segments are made safe, so that distinct values stay distinct keys. */
import { bytes, sha256, toHex } from 'authkernel/kernel'
import type { Key } from './types.ts'

type Make<A extends string[]> = (...values: A) => Promise<Key>

/** Makers of keys, and where things lie. */
export interface Keys {
  user: Make<[id: string]>
  email: Make<[email: string]>
  account: Make<[provider: string, providerAccountId: string]>
  accountsOf: Make<[userId: string]>
  session: Make<[sessionToken: string]>
  sessionsOf: Make<[userId: string]>
  token: Make<[identifier: string, token: string]>
  tokensOf: Make<[identifier: string]>
  authenticator: Make<[credentialID: string]>
  authenticatorsOf: Make<[userId: string]>
  once: Make<[key: string]>
  limit: Make<[key: string]>
  /** Where all records of a kind lie. */
  folder(kind: 'user' | 'account' | 'session' | 'token' | 'once' | 'limit'): string
}

// Unstorage cuts keys at `?`, takes `/` and `\` for `:` and joins repeated ones; file systems may ignore case and refuse long names,
// dots and spaces. Everything else than these few characters becomes a hash. A leading dot or a `..` never passes; `$` ends metadata keys.
const plain = /^[a-z0-9_@+-](?:[a-z0-9_@+-]|\.(?!\.)){0,119}$/

// Names of index folders: a provider or a token of that name must not land in them.
const reservedNames = new Set(['account', 'email', 'session', 'token', 'by-user-id', 'by-identifier'])

/** Makers of keys under one prefix: '' or 'name' (a colon is put behind it). */
export function createKeys(prefix: string): Keys {
  const root = prefix === '' ? '' : `${prefix.replace(/(?<!:):+$/, '')}:`
  async function key(base: string, ...values: string[]): Promise<Key> {
    const path = root + base + (await Promise.all(values.map(keySegment))).join(':')
    const legacy = root + base + values.join(':')
    return path === legacy ? { path } : { path, legacy: normalisePath(legacy) }
  }
  const under =
    (base: string) =>
    (...values: string[]) =>
      key(base, ...values)
  return {
    user: under('user:'),
    email: under('user:email:'),
    account: under('user:account:'),
    accountsOf: under('user:account:by-user-id:'),
    session: under('user:session:'),
    sessionsOf: under('user:session:by-user-id:'),
    token: under('user:token:'),
    tokensOf: under('user:token:by-identifier:'),
    authenticator: under('authenticator:'),
    authenticatorsOf: under('authenticator:by-user-id:'),
    once: under('once:'),
    limit: under('limit:'),
    folder: (kind) => `${root}${kind === 'once' || kind === 'limit' || kind === 'user' ? '' : 'user:'}${kind}:`,
  }
}

/** A value as a part of a key: itself where every store keeps it as it is, else its hash. */
export async function keySegment(value: string): Promise<string> {
  if (plain.test(value) && !value.endsWith('.') && !reservedNames.has(value)) return value
  return `~${toHex(await sha256(value))}`
}

// As unstorage does it; undefined where it or a file system would refuse the key.
function normalisePath(key: string): string | undefined {
  const path = (key.split('?')[0] ?? '').replace(/[/\\]/g, ':').replace(/:+/g, ':').replace(/^:|:$/g, '')
  const isUnsafe = path.split(':').some((part) => part === '.' || part === '..' || bytes(part).length > 255)
  return path === '' || path.includes('\0') || isUnsafe ? undefined : path
}
