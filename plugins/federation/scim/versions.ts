/** Versions of resources: ETag, If-Match and If-None-Match (RFC 7644 section 3.14). */
import type { Context } from 'authkernel/kernel'
import type { Caller } from './caller.ts'
import { ScimError } from './errors.ts'

/** The weak ETag of a version. */
export function toEtag(version: number): string {
  return `W/"${version}"`
}

/** Throws ScimError 412 when the client names another version. */
export function assertVersion({ ifMatch }: Caller, { version }: { version: number }): void {
  if (ifMatch !== null && !names(ifMatch, version)) throw new ScimError(412, 'The resource was changed by another request.')
}

/** Whether the client has this version already: a GET gets status 304. */
export function isKnownVersion(ctx: Context, version: number): boolean {
  const known = ctx.request.headers.get('if-none-match')
  return known !== null && names(known, version)
}

function names(header: string, version: number): boolean {
  return header.split(',').some((one) => one.trim() === '*' || one.trim() === toEtag(version) || one.trim() === `"${version}"`)
}
