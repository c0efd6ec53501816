/** `authkernel/jwt`: encode, decode and getToken for hosts. Discouraged where `auth.session` will do (row 379). */
export { getToken } from './get-token.ts'
export type { GetTokenParams } from './get-token.ts'
export { decode, encode } from './jwe.ts'
export type { DecodeParams, EncodeParams, KeyInfo } from './jwe.ts'
export type { JWTOptions } from './config.ts'
export type { DefaultJWT, JWT } from './types.ts'
