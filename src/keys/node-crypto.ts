/** `node:crypto` where it works: its functions are synchronous, while each call of Web Crypto takes a turn in the thread pool (docs/speed.md). */
export type NodeCrypto = ReturnType<typeof process.getBuiltinModule<'node:crypto'>>

const tested = new WeakMap<NodeCrypto, boolean>()

/** Undefined on runtimes without it. Asked through the process, so that bundles for other runtimes have no `node:` import. */
export function nodeCrypto(): NodeCrypto | undefined {
  try {
    const crypto = globalThis.process.getBuiltinModule('node:crypto')
    let works = tested.get(crypto)
    // Some runtimes only have stubs.
    if (works === undefined) tested.set(crypto, (works = probe(crypto)))
    return works ? crypto : undefined
  } catch {
    return undefined
  }
}

// One known value per primitive that is used.
function probe(crypto: NodeCrypto): boolean {
  const key = Buffer.from(crypto.hkdfSync('sha256', 'probe', 'probe', 'probe', 32))
  const mac = crypto.createHmac('sha256', crypto.createSecretKey(key)).update('probe').digest()
  const hash = crypto.createHash('sha256').update(key).digest()
  const cbc = crypto.createCipheriv('aes-256-cbc', key, key.subarray(0, 16))
  const gcm = crypto.createCipheriv('aes-256-gcm', key, key.subarray(0, 12)).setAAD(hash)
  const sealed = Buffer.concat([cbc.update('probe', 'utf8'), cbc.final(), gcm.update('probe', 'utf8'), gcm.final(), gcm.getAuthTag()])
  const all = crypto.createHash('sha512').update(mac).update(hash).update(sealed).digest('base64url')
  return all === expected && crypto.timingSafeEqual(mac, mac) && crypto.randomBytes(16).length === 16
}

const expected = 'aNvFGIgKFrsx4TRoU_Eeo3Nj2m-CTvusRCp7VFpW2X97ZIOFyVyuGGLPmIzDlaw_xVYxxPv_zwVz75yB5aqMcg'
