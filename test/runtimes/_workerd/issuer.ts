/** A small OpenID Provider behind a `fetch`, with Web Crypto alone. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { discoveryDocument } from '../../_op/document.ts'

export interface Issuer {
  issuer: string
  fetch: typeof globalThis.fetch
  /** The callback URL that the user is sent to from an authorization URL. */
  authorize(location: string): string
}

/** `person`: claims of the user who signs in. */
export async function createIssuer(person: Record<string, unknown>): Promise<Issuer> {
  const issuer = 'https://op.example'
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  let asked = new URLSearchParams()
  const answers: Record<string, () => Promise<object> | object> = {
    '/.well-known/openid-configuration': () => discoveryDocument(issuer),
    '/jwks': () => ({ keys: [jwk] }),
    '/userinfo': () => person,
    '/token': async () => ({
      access_token: 'access',
      token_type: 'Bearer',
      ...(asked.get('scope')?.includes('openid') && {
        id_token: await new SignJWT({ ...person, ...(asked.has('nonce') && { nonce: asked.get('nonce') }) })
          .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
          .setIssuer(issuer)
          .setAudience('client-1')
          .setIssuedAt()
          .setExpirationTime('1h')
          .sign(privateKey),
      }),
    }),
  }
  return {
    issuer,
    async fetch(input) {
      const answer = answers[new URL(input instanceof Request ? input.url : input).pathname]
      return answer ? Response.json(await answer()) : new Response(null, { status: 404 })
    },
    authorize(location) {
      asked = new URL(location).searchParams
      const back = new URL(asked.get('redirect_uri') ?? '')
      back.searchParams.set('code', 'a-code')
      if (asked.has('state')) back.searchParams.set('state', asked.get('state') ?? '')
      return back.href
    },
  }
}
