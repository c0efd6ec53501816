/** The service `signingKeys`: statements of other plugins under the keys of this one, so that a server publishes one key set. */
import { type AnyContext, setBounded, type SigningKeys, toBase64Url } from 'authkernel/kernel'
import { signOutside } from './external-keys.ts'
import { keySet, signerOf, signingKeys } from './keys.ts'
import type { ResolvedOptions } from './options.ts'
import type { SigningKey } from './tables.ts'

/** Longer texts are no statements of this server. */
const maxLength = 16_384
const maxKeys = 100

/** The service with the keys of `options`. */
export function statementKeys(options: ResolvedOptions): SigningKeys {
  return {
    algorithm: options.algorithm,
    algorithms: options.algorithms,
    maxAge: options.maxAge,
    sign: (ctx, typ, claims, wanted) => signStatement(ctx, options, typ, claims, wanted?.algorithm),
    async open(ctx, typ, text) {
      if (text.length > maxLength) return null
      const { compactVerify, createLocalJWKSet, errors } = await import('jose')
      const keys = await signingKeys(ctx, options)
      try {
        const algorithms = [...new Set(keys.map(({ alg }) => alg))]
        const { payload, protectedHeader } = await compactVerify(text, createLocalJWKSet(keySet(keys)), { algorithms })
        if (protectedHeader.typ?.toLowerCase() !== typ.toLowerCase()) return null
        return JSON.parse(new TextDecoder().decode(payload)) as Record<string, unknown>
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof SyntaxError) return null
        throw error
      }
    },
  }
}

/** Signs claims as they are, with the key of the algorithm that signs now. */
export async function signStatement(
  ctx: AnyContext,
  options: ResolvedOptions,
  typ: string,
  given: Parameters<SigningKeys['sign']>[2],
  algorithm?: string,
): Promise<string> {
  const signer = signerOf(ctx, options, await signingKeys(ctx, options), algorithm)
  const claims = typeof given === 'function' ? await given(signer.alg) : given
  const header = { alg: signer.alg, typ, kid: signer.id }
  if ('external' in signer) return signOutside(ctx, signer.external, `${encode(header)}.${encode(claims)}`)
  const { SignJWT } = await import('jose')
  return new SignJWT({ ...claims }).setProtectedHeader(header).sign(await privateKey(ctx, signer.stored))
}

function encode(part: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(part)))
}

async function privateKey(ctx: AnyContext, { id, alg, privateKey: jwk }: SigningKey): Promise<CryptoKey> {
  const imported = ctx.app.shared.cache<CryptoKey>('jwt.keys')
  const { importJWK } = await import('jose')
  return imported.get(id) ?? setBounded(imported, id, (await importJWK(jwk, alg)) as CryptoKey, maxKeys)
}
