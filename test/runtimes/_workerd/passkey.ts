/** A passkey in software with Web Crypto alone, for a worker that has no `node:crypto`. */
import { bytes, sha256, toBase64Url } from 'authkernel/kernel'

type Bytes = Uint8Array<ArrayBuffer>

export interface Passkey {
  /** What the browser posts after `navigator.credentials.create`. */
  create(options: { challenge: string; rp: { id: string } }): Promise<string>
  /** What the browser posts after `navigator.credentials.get`. */
  get(options: { challenge: string; rpId: string }): Promise<string>
}

export async function createPasskey(origin: string): Promise<Passkey> {
  const id = crypto.getRandomValues(new Uint8Array(32))
  const pair = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])) as CryptoKeyPair
  // 0x04, then both coordinates.
  const point = new Uint8Array((await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer)
  const cose = join([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32], point.subarray(1, 33), [0x22, 0x58, 32], point.subarray(33))
  let counter = 0
  const authData = async (rpId: string, flags: number): Promise<Bytes> => join(await sha256(rpId), [flags, 0, 0, 0, counter])
  const clientData = (type: string, challenge: string): Bytes => bytes(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  const credential = (response: object): string =>
    JSON.stringify({ id: toBase64Url(id), rawId: toBase64Url(id), type: 'public-key', clientExtensionResults: {}, response })

  return {
    async create({ challenge, rp }) {
      const data = join(await authData(rp.id, 0x45), new Uint8Array(16), [0, id.length], id, cose)
      // CBOR of {"fmt": "none", "attStmt": {}, "authData": …}
      const attestation = join(
        [0xa3],
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        [0xa0],
        cborText('authData'),
        [0x58, data.length],
        data,
      )
      return credential({
        clientDataJSON: toBase64Url(clientData('webauthn.create', challenge)),
        attestationObject: toBase64Url(attestation),
        transports: ['internal'],
      })
    },
    async get({ challenge, rpId }) {
      counter++
      const client = clientData('webauthn.get', challenge)
      const data = await authData(rpId, 0x05)
      const signed = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, join(data, await sha256(client)))
      return credential({
        clientDataJSON: toBase64Url(client),
        authenticatorData: toBase64Url(data),
        signature: toBase64Url(der(new Uint8Array(signed))),
      })
    },
  }
}

function join(...parts: (Uint8Array | number[])[]): Bytes {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

function cborText(text: string): Bytes {
  return join([0x60 | text.length], bytes(text))
}

// WebAuthn wants ECDSA-Sig-Value (RFC 3279), Web Crypto gives r and s as they are.
function der(signature: Bytes): Bytes {
  const integer = (value: Bytes): Bytes => {
    const from = value.findIndex((byte) => byte !== 0)
    const short = value.subarray(from)
    return (short[0] ?? 0) < 0x80 ? join([2, short.length], short) : join([2, short.length + 1, 0], short)
  }
  const both = join(integer(signature.subarray(0, 32)), integer(signature.subarray(32)))
  return join([0x30, both.length], both)
}
