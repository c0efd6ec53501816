/** What a sign-in form of a page of the host says (row 318). */
import type { SignInOptions } from './actions.ts'

/** A form as data. */
export interface FormRequest {
  provider: string | undefined
  /** False: the caller wants the URL instead of going there. */
  redirect: boolean
  options: SignInOptions
}

const prefix = 'authorizationParams-'

/**
 * Reads `providerId`, `redirectTo`, `redirect`, `authorizationParams-<key>`, and takes the rest as fields of the provider's form.
 * Files are no credentials and left out.
 */
export function readForm(entries: Iterable<readonly [string, unknown]>): FormRequest {
  const fields: Record<string, unknown> = {}
  const authorizationParams: Record<string, string> = {}
  for (const [name, value] of entries) {
    if (typeof value === 'object' && value !== null && 'arrayBuffer' in value) continue
    if (name.startsWith(prefix)) authorizationParams[name.slice(prefix.length)] = String(value)
    else fields[name] = value
  }
  const { providerId, redirectTo, redirect, ...rest } = fields
  return {
    provider: nonEmptyText(providerId),
    redirect: redirect !== 'false' && redirect !== false,
    options: { redirectTo: nonEmptyText(redirectTo), fields: rest, authorizationParams },
  }
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
