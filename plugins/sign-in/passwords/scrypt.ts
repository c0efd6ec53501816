/** scrypt (RFC 7914) of the runtime. */

/** Cost and length in bytes of what is derived. */
export interface ScryptCost {
  N: number
  r: number
  p: number
  length: number
}

/** Derives a key off the main thread. */
export async function scryptKey(
  password: string | Uint8Array,
  salt: string | Uint8Array,
  { length, ...cost }: ScryptCost,
): Promise<Uint8Array> {
  const { scrypt } = await import('node:crypto')
  const maxmem = 128 * cost.N * cost.r * 2 + 33_554_432
  return new Promise((resolve, reject) =>
    scrypt(password, salt, length, { ...cost, maxmem }, (error, key) => (error ? reject(error) : resolve(key))),
  )
}
