/** The provider of all contestants: a `fetch` in the server's process that answers at once. ID tokens are signed before a turn, so that the provider's own work does not count. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { client, discovery, issuer } from '../../contestants/_setup.mjs'

/** `fetch`, and `sign`, which makes a person of each name ready: the name is the subject and the code at once. */
export async function provider() {
  const { publicKey, privateKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: '1', alg: 'RS256', use: 'sig' }
  const tokens = new Map()
  const documents = {
    '/.well-known/openid-configuration': discovery,
    '/jwks': { keys: [jwk] },
  }
  return {
    async sign(names) {
      for (const name of names) {
        const token = await new SignJWT({ name: `Person ${name}`, email: `${name}@example.com`, email_verified: true })
          .setProtectedHeader({ alg: 'RS256', kid: '1' })
          .setIssuer(issuer)
          .setAudience(client.clientId)
          .setSubject(name)
          .setIssuedAt()
          .setExpirationTime('1d')
          .sign(privateKey)
        tokens.set(name, token)
      }
    },
    async fetch(input, init) {
      const { pathname } = new URL(input.url ?? input)
      if (pathname !== '/token') return Response.json(documents[pathname], { status: pathname in documents ? 200 : 404 })
      const code = new URLSearchParams(await new Request(input, init).text()).get('code')
      return Response.json({ access_token: `of ${code}`, token_type: 'bearer', expires_in: 3600, id_token: tokens.get(code) })
    },
  }
}
