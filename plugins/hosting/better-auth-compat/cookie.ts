/** The session's cookie of better-auth: the token, a dot, and its HMAC-SHA-256 in base64. */
import { type AnyContext, bytes, equal, type SessionCookie, toBase64 } from 'authkernel/kernel'

/** Signed with the first secret, opened with each. Without secrets those of the settings count. */
export function sessionCookie(secrets: readonly string[] | undefined): SessionCookie {
  const secretsOf = (ctx: AnyContext): readonly string[] => secrets ?? ctx.settings.secret
  return {
    async open(ctx, value) {
      const at = value.lastIndexOf('.')
      const [token, signature] = [value.slice(0, at), value.slice(at + 1)]
      // 44 characters: 32 bytes.
      if (at < 1 || signature.length !== 44) return undefined
      for (const secret of secretsOf(ctx)) if (equal(await signToken(token, secret), signature)) return token
      return undefined
    },
    async write(ctx, token) {
      const [secret = ''] = secretsOf(ctx)
      return `${token}.${await signToken(token, secret)}`
    },
  }
}

async function signToken(token: string, secret: string): Promise<string> {
  const key = await crypto.subtle.importKey('raw', bytes(secret), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(token))))
}
