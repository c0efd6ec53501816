/** A security key in software: real keys, real signatures, so that the real library verifies them. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface CreationOptions {
  challenge: string
  rp: { id: string; name: string }
  user: { id: string; name: string; displayName: string }
  excludeCredentials: { id: string }[]
  authenticatorSelection: Record<string, unknown>
  timeout: number
}
export interface RequestOptions {
  challenge: string
  rpId: string
  allowCredentials?: { id: string; transports: string[] }[]
  userVerification: string
  timeout: number
}
/** What a test may bend. */
export interface Bend {
  origin?: string
  challenge?: string
  counter?: number
  verified?: boolean
  backedUp?: boolean
  transports?: unknown
  /** `own`: that of the registration. */
  userHandle?: string
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
const digest = (bytes: string | Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

export class Authenticator {
  readonly id: Buffer
  readonly origin: string
  counter = 0
  handle = ''
  readonly #private: KeyObject
  readonly publicKey: KeyObject

  constructor(origin: string, id: Buffer = randomBytes(32)) {
    this.origin = origin
    this.id = id
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.#private = privateKey
    this.publicKey = publicKey
  }

  /** Standard base64, as stored. */
  get storedId(): string {
    return this.id.toString('base64')
  }

  create(options: CreationOptions, bend: Bend = {}): string {
    this.handle = (options as { user?: { id?: string } }).user?.id ?? ''
    const credential = Buffer.concat([Buffer.alloc(16), length16(this.id), this.id, this.coseKey()])
    const authData = Buffer.concat([this.#authData(options.rp.id, 0x40, bend), credential])
    return JSON.stringify({
      id: base64url(this.id),
      rawId: base64url(this.id),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', options.challenge, bend),
        attestationObject: base64url(attestation(authData)),
        transports: bend.transports ?? ['hybrid', 'internal'],
      },
    })
  }

  get(options: RequestOptions, bend: Bend = {}): string {
    this.counter++
    const authData = this.#authData(options.rpId, 0, bend)
    const clientDataJSON = this.#clientData('webauthn.get', options.challenge, bend)
    const signature = sign('sha256', Buffer.concat([authData, digest(Buffer.from(clientDataJSON, 'base64url'))]), this.#private)
    return JSON.stringify({
      id: base64url(this.id),
      rawId: base64url(this.id),
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: base64url(authData),
        signature: base64url(signature),
        ...(bend.userHandle !== undefined && { userHandle: bend.userHandle === 'own' ? this.handle : bend.userHandle }),
      },
    })
  }

  coseKey(): Buffer {
    const { x, y } = this.publicKey.export({ format: 'jwk' }) as { x: string; y: string }
    const bytes = (value: string): Buffer => Buffer.concat([Buffer.from([0x58, 0x20]), Buffer.from(value, 'base64url')])
    return Buffer.concat([Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21]), bytes(x), Buffer.from([0x22]), bytes(y)])
  }

  #authData(rpId: string, more: number, { verified = true, backedUp = false, counter = this.counter }: Bend): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([digest(rpId), Buffer.from([0x01 | (verified ? 0x04 : 0) | (backedUp ? 0x18 : 0) | more]), count])
  }

  #clientData(type: string, challenge: string, bend: Bend): string {
    const data = { type, challenge: bend.challenge ?? challenge, origin: bend.origin ?? this.origin, crossOrigin: false }
    return base64url(Buffer.from(JSON.stringify(data)))
  }
}

// CBOR of {"fmt": "none", "attStmt": {}, "authData": …}
function attestation(authData: Buffer): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([0x60 | value.length]), Buffer.from(value)])
  const bytes = Buffer.concat([Buffer.from([0x59]), length16(authData), authData])
  return Buffer.concat([Buffer.from([0xa3]), text('fmt'), text('none'), text('attStmt'), Buffer.from([0xa0]), text('authData'), bytes])
}

function length16(value: Uint8Array): Buffer {
  return Buffer.from([value.length >> 8, value.length & 0xff])
}
