/** `authkernel/jwt`: encode, decode and getToken for hosts. Discouraged where `auth.session` will do (row 379). */
export { getToken } from './get-token.ts'
export type { GetTokenParams } from './get-token.ts'
export { decode, encode } from '../keys/token.ts'
export type { DecodeParams, EncodeParams } from '../contract/token.ts'
export type { KeyInfo } from '../contract/settings.ts'
export type { JWTOptions } from '../contract/config.ts'
export type { DefaultJWT, JWT } from '../contract/data.ts'
