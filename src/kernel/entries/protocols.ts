/** `authkernel/kernel/protocols`: for plugins that speak a protocol with other servers. */
export { overloadOf, withDeadline } from '../../errors/deadlines.ts'
export { CrossSiteRequest } from '../../errors/kernel-errors.ts'
export { redactError } from '../../errors/redact.ts'
export { hostMatches } from '../../http/hosts.ts'
export { hkdf, nodeCrypto } from '../../keys/crypto.ts'
export { isJsonObject, type JsonObject, unverifiedJwt } from '../../keys/unverified-jwt.ts'
export { boundedRead, toResponse } from '../../runtime/network.ts'
export { createPublicFetch } from '../public-fetch.ts'
