/** Rich authorization requests (RFC 9396): what a client asks for beyond scopes, in the form of its type. */
import type { Client } from './clients.ts'
import type { AuthorizationDetail, AuthorizationDetailType, ResolvedOptions } from './options.ts'

const maxDetails = 10
const maxLength = 8_192

/** The details of a parameter, checked by their types; a text: what is wrong with them. */
export function readDetails(
  { authorizationDetails }: Pick<ResolvedOptions, 'authorizationDetails'>,
  { metadata }: Pick<Client, 'metadata'>,
  text: string | undefined,
): AuthorizationDetail[] | string {
  if (text === undefined) return []
  const details = parseDetails(text)
  if (!details) return `authorization_details must be a list of 1 to ${maxDetails} objects with a type.`
  for (const detail of details) {
    const type = authorizationDetails.get(detail.type)
    const allowed = metadata.authorization_details_types
    if (!type || !(allowed?.includes(detail.type) ?? true))
      return 'authorization_details has a type that the server or the client does not have.'
    const wrong = type.check?.(detail) ?? true
    if (wrong !== true) return typeof wrong === 'string' ? wrong : 'authorization_details does not fit its type.'
  }
  return details
}

/** Those for some audiences. */
export function detailsFor(
  { authorizationDetails }: Pick<ResolvedOptions, 'authorizationDetails'>,
  details: readonly AuthorizationDetail[],
  audiences: readonly string[],
): AuthorizationDetail[] {
  return details.filter(({ type }) => {
    const resource = authorizationDetails.get(type)?.resource
    return resource !== undefined && audiences.includes(resource)
  })
}

/** Whether each of the details was granted, in every member (RFC 9396 section 6). */
export function areGranted(details: readonly AuthorizationDetail[], granted: readonly AuthorizationDetail[]): boolean {
  const known = granted.map(sortedJson)
  return details.every((detail) => known.includes(sortedJson(detail)))
}

/** Lines of the consent page: the host's own words, else names and values as they came. */
export function describeDetail(type: AuthorizationDetailType | undefined, detail: AuthorizationDetail): [label: string, value: string][] {
  const lines = type?.describe ? type.describe(detail) : Object.entries(detail).filter(([name]) => name !== 'type')
  return lines.map(([label, value]) => [label, typeof value === 'string' ? value : JSON.stringify(value)])
}

/** The list in a parameter; undefined: it is none. */
export function parseDetails(text: string): AuthorizationDetail[] | undefined {
  if (text.length > maxLength) return undefined
  try {
    const value: unknown = JSON.parse(text)
    const isDetail = (one: unknown): one is AuthorizationDetail =>
      typeof one === 'object' && one !== null && typeof (one as { type?: unknown }).type === 'string'
    return Array.isArray(value) && value.length > 0 && value.length <= maxDetails && value.every(isDetail) ? value : undefined
  } catch {
    return undefined
  }
}

/** JSON with sorted names: equal details have equal texts. */
function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}
