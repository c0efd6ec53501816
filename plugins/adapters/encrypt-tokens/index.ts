/** Keeps the provider tokens of accounts encrypted in any store: an attacker who reads the database cannot act as the user elsewhere. */
import { assertOptions, type Adapter, type AdapterAccount, bytes, fromBase64, toBase64Url } from 'authkernel/kernel'
import { hkdf } from 'authkernel/kernel/protocols'

/** Options of `encryptTokens`. */
export interface EncryptTokensOptions {
  /** At least 32 characters; of a list the first encrypts and all decrypt. Not `AUTH_SECRET`, where that is replaced more often. */
  secret: string | readonly string[]
  /** Fields of an account; default `access_token`, `refresh_token`, `id_token`. */
  fields?: readonly string[]
}

const mark = 'enc.v1.'

/**
 * An adapter that encrypts token fields on their way into `adapter` and decrypts them on their way out (AES-256-GCM). Values that were
 * stored before are read as they are and encrypted at the next write. A value that no secret opens is an error, not a token.
 */
export function encryptTokens<A extends Adapter>(adapter: A, options: EncryptTokensOptions): A {
  assertOptions('encryptTokens', options, { secret: true, fields: true })
  const { secret, fields = ['access_token', 'refresh_token', 'id_token'] } = options
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets.length === 0 || secrets.some((each) => each.length < 32)) {
    throw new Error('encryptTokens: `secret` must be at least 32 characters; `npx authkernel secret` makes one.')
  }
  const keys = secrets.map(deriveKey)

  // Bound to its account and field: a value that is copied to another row opens there no more.
  const context = (account: Partial<AdapterAccount>, field: string): Uint8Array<ArrayBuffer> =>
    bytes(JSON.stringify([account.provider, account.providerAccountId, field]))
  async function map<T>(account: T, change: (value: string, context: Uint8Array<ArrayBuffer>) => Promise<string>): Promise<T> {
    if (typeof account !== 'object' || account === null) return account
    const result = { ...account } as Record<string, unknown>
    for (const field of fields) {
      const value = result[field]
      if (typeof value === 'string') result[field] = await change(value, context(account, field))
    }
    return result as T
  }
  const seal = <T>(account: T): Promise<T> => map(account, async (value, bound) => encryptValue(await keys[0]!, value, bound))
  const open = <T>(account: T): Promise<T> =>
    map(account, (value, bound) => (value.startsWith(mark) ? decryptValue(keys, value, bound) : Promise.resolve(value)))

  const wrapped: Adapter = {
    linkAccount: async (account) => open(await adapter.linkAccount!(await seal(account))),
    updateAccount: async (account) => open(await adapter.updateAccount!(await seal(account))),
    createUserWithAccount: async (user, account) => adapter.createUserWithAccount!(user, await seal(account)),
    getAccount: async (id, provider) => open(await adapter.getAccount!(id, provider)),
    unlinkAccount: async (key) => open(await adapter.unlinkAccount!(key)),
    listAccountsByUserId: async (userId) => Promise.all((await adapter.listAccountsByUserId!(userId)).map(open)),
  }
  const present = Object.entries(wrapped).filter(([name]) => typeof adapter[name as keyof Adapter] === 'function')
  return { ...adapter, ...Object.fromEntries(present) }
}

async function deriveKey(secret: string): Promise<CryptoKey> {
  const raw = await hkdf(secret, 'encrypt-tokens', 'authkernel account tokens', 32)
  return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

async function encryptValue(key: CryptoKey, value: string, additionalData: Uint8Array<ArrayBuffer>): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, bytes(value)))
  return `${mark}${toBase64Url(iv)}.${toBase64Url(sealed)}`
}

async function decryptValue(keys: readonly Promise<CryptoKey>[], value: string, additionalData: Uint8Array<ArrayBuffer>): Promise<string> {
  const [iv = '', sealed = ''] = value.slice(mark.length).split('.')
  for (const key of keys) {
    try {
      const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv), additionalData }, await key, fromBase64(sealed))
      return new TextDecoder().decode(plain)
    } catch {
      // Another secret may have sealed it.
    }
  }
  throw new Error(
    'encryptTokens: a stored token was sealed with none of the secrets, or altered. Put the former secret behind the new one.',
  )
}
