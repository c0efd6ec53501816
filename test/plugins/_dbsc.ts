/** A browser that speaks Device Bound Session Credentials: it keeps a key, registers it and signs challenges, byte for byte as the draft says. */
import { toBase64Url } from 'authkernel/kernel'
import type { Client } from '../_setup.ts'

/** What a proof may be made with instead of the right thing. */
export interface Forged {
  header?: Record<string, unknown>
  claims?: Record<string, unknown>
  signature?: string
}
/** The instructions of the server. */
export interface Instructions {
  session_identifier: string
  refresh_url: string
  scope: { origin: string; include_site: boolean }
  credentials: { type: string; name: string; attributes: string }[]
  continue?: boolean
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const part = (value: object): string => toBase64Url(bytes(JSON.stringify(value)))

export class Device {
  instructions: Instructions | undefined
  readonly client: Client
  #keys: CryptoKeyPair | undefined
  #public: { kty: string; crv: string; x: string; y: string } | undefined

  constructor(client: Client) {
    this.client = client
  }

  /** A signed proof of a challenge. */
  async proof(challenge: string, withKey: boolean, { header, claims, signature }: Forged = {}): Promise<string> {
    if (!this.#keys) {
      this.#keys = (await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])) as CryptoKeyPair
      const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', this.#keys.publicKey)
      this.#public = { kty: kty!, crv: crv!, x: x!, y: y! }
    }
    const top = part({ alg: 'ES256', typ: 'dbsc+jwt', ...(withKey && { jwk: this.#public }), ...header })
    const text = `${top}.${part({ jti: challenge, ...claims })}`
    const made = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, this.#keys.privateKey, bytes(text))
    return `${text}.${signature ?? toBase64Url(new Uint8Array(made))}`
  }

  /** Answers the header of a sign-in; null: there was none. */
  async register(signedIn: Response, forged?: Forged): Promise<Response | null> {
    const offered = /^\(ES256\);path="([^"]+)";challenge="([^"]+)"$/.exec(signedIn.headers.get('secure-session-registration') ?? '')
    if (!offered) return null
    const proof = await this.proof(offered[2]!, true, forged)
    const response = await this.client.send(this.client.origin + offered[1]!, {
      method: 'POST',
      headers: { 'secure-session-response': `"${proof}"` },
    })
    if (response.ok) this.instructions = (await response.clone().json()) as Instructions
    return response
  }

  /** One request to the refresh route; with a challenge it is signed. */
  async ask(challenge?: string, forged?: Forged): Promise<Response> {
    const { session_identifier: id, refresh_url: url } = this.instructions!
    const proof = challenge === undefined ? undefined : await this.proof(challenge, false, forged)
    return this.client.send(this.client.origin + url, {
      method: 'POST',
      headers: { 'sec-secure-session-id': `"${id}"`, ...(proof && { 'secure-session-response': `"${proof}"` }) },
    })
  }

  /** What a browser does when the short cookie ends. */
  async refresh(): Promise<Response> {
    const asked = await this.ask()
    const challenge = challengeOf(asked)
    return challenge === undefined ? asked : this.ask(challenge)
  }
}

export function challengeOf(response: Response): string | undefined {
  return /^"([0-9a-f]{64})";id="[0-9a-f]{32}"$/.exec(response.headers.get('secure-session-challenge') ?? '')?.[1]
}
