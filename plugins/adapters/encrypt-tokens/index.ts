/** Keeps the provider tokens of accounts encrypted in any store: an attacker who reads the database cannot act as the user elsewhere. */
import { assertOptions, type Adapter, type AdapterAccount, bytes, fromBase64, type TenantAdapter, toBase64Url } from 'authkernel/kernel'
import { hkdf } from 'authkernel/kernel/protocols'

/** Options of `encryptTokens`. */
export interface EncryptTokensOptions {
  /** At least 32 characters; of a list the first encrypts and all decrypt. Not `AUTH_SECRET`, where that is replaced more often. */
  secret: string | readonly string[]
  /** Fields of an account; default `access_token`, `refresh_token`, `id_token`. */
  fields?: readonly string[]
}

const mark = 'enc.v1.'

/** What the answer of `encryptTokens` has beside the members of the adapter. */
export interface EncryptingAdapter {
  readonly encryptsTokens: true
  /** Calls the listener with names of fields that no secret decrypts, once for each name. The answer ends that. */
  onUnreadable(listener: (fields: readonly string[]) => void): () => void
}

/**
 * An adapter that encrypts token fields on their way into `adapter` and decrypts them on their way out (AES-256-GCM). Values that were
 * stored before are read as they are and encrypted at the next write. A value that no secret opens is no token: the field is absent, and
 * `unreadable` of the account names it.
 */
export function encryptTokens<A extends Adapter>(adapter: A, options: EncryptTokensOptions): A & EncryptingAdapter {
  assertOptions('encryptTokens', options, { secret: true, fields: true })
  const { secret, fields = ['access_token', 'refresh_token', 'id_token'] } = options
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets.length === 0 || secrets.some((each) => each.length < 32)) {
    throw new Error('encryptTokens: `secret` must be at least 32 characters; `npx authkernel secret` makes one.')
  }
  const keys = secrets.map(deriveTokenKey)

  // Bound to its account and field: a value that is copied to another row opens there no more.
  const context = (account: Partial<AdapterAccount>, field: string): Uint8Array<ArrayBuffer> =>
    bytes(JSON.stringify([account.provider, account.providerAccountId, field]))
  async function seal<T>(account: T): Promise<T> {
    if (typeof account !== 'object' || account === null) return account
    const { unreadable: _read, ...sealed } = account as Record<string, unknown>
    for (const field of fields) {
      const value = sealed[field]
      if (typeof value === 'string') sealed[field] = await encryptValue(await keys[0]!, value, context(account, field))
    }
    return sealed as T
  }
  async function open<T>(account: T): Promise<T> {
    if (typeof account !== 'object' || account === null) return account
    const opened = { ...account } as Record<string, unknown>
    const unreadable: string[] = []
    for (const field of fields) {
      const value = opened[field]
      if (typeof value !== 'string' || !value.startsWith(mark)) continue
      const plain = await decryptValue(keys, value, context(account, field))
      if (plain !== undefined) opened[field] = plain
      else {
        delete opened[field]
        unreadable.push(field)
      }
    }
    if (unreadable.length === 0) return opened as T
    for (const tell of listeners) tell(unreadable)
    return { ...opened, unreadable } as T
  }

  const listeners = new Set<(unreadable: readonly string[]) => void>()
  const onUnreadable: EncryptingAdapter['onUnreadable'] = (listener) => {
    const logged = new Set<string>()
    const tell = (unreadable: readonly string[]): void => {
      const names = unreadable.filter((name) => !logged.has(name))
      for (const name of names) logged.add(name)
      if (names.length > 0) listener(names)
    }
    listeners.add(tell)
    return () => void listeners.delete(tell)
  }
  function wrap<B extends Adapter>(inner: B): B & EncryptingAdapter {
    const wrapped: Adapter = {
      linkAccount: async (account) => open(await inner.linkAccount!(await seal(account))),
      updateAccount: async (account) => open(await inner.updateAccount!(await seal(account))),
      createUserWithAccount: async (user, account) => inner.createUserWithAccount!(user, await seal(account)),
      createUsers: async (users) =>
        inner.createUsers!(
          await Promise.all(users.map(async ({ user, accounts }) => ({ user, accounts: await Promise.all(accounts.map(seal)) }))),
        ),
      getAccount: async (id, provider) => open(await inner.getAccount!(id, provider)),
      unlinkAccount: async (key) => open(await inner.unlinkAccount!(key)),
      listAccountsByUserId: async (userId) => Promise.all((await inner.listAccountsByUserId!(userId)).map(open)),
    }
    const present = Object.entries(wrapped).filter(([name]) => typeof inner[name as keyof Adapter] === 'function')
    const tenants = inner as Partial<TenantAdapter>
    // An adapter that keeps tenants apart answers with another one for each of them.
    const apart = tenants.namespaced && { namespaced: (namespace: string) => wrap(tenants.namespaced!(namespace)) }
    return { ...inner, ...Object.fromEntries(present), ...apart, encryptsTokens: true, onUnreadable }
  }
  return wrap(adapter)
}

async function deriveTokenKey(secret: string): Promise<CryptoKey> {
  const raw = await hkdf(secret, 'encrypt-tokens', 'authkernel account tokens', 32)
  return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt'])
}

async function encryptValue(key: CryptoKey, value: string, additionalData: Uint8Array<ArrayBuffer>): Promise<string> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData }, key, bytes(value)))
  return `${mark}${toBase64Url(iv)}.${toBase64Url(sealed)}`
}

/** Undefined: none of the secrets sealed it for this account and field, or it was altered. */
async function decryptValue(
  keys: readonly Promise<CryptoKey>[],
  value: string,
  additionalData: Uint8Array<ArrayBuffer>,
): Promise<string | undefined> {
  const [iv = '', sealed = ''] = value.slice(mark.length).split('.')
  for (const key of keys) {
    try {
      const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: fromBase64(iv), additionalData }, await key, fromBase64(sealed))
      return new TextDecoder().decode(plain)
    } catch {
      // Another secret may have sealed it.
    }
  }
  return undefined
}
