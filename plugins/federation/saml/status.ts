/** What the status codes of an identity provider mean, and what to change (SAML Core section 3.2.2.2). */
import { SamlStatusError } from './errors.ts'
import { attributeOf, childOf, contentOf, ns, requireChild } from './tree.ts'
import type { XmlElement } from './xml.ts'

const prefix = 'urn:oasis:names:tc:SAML:2.0:status:'
const fixes: Readonly<Record<string, string>> = {
  Requester:
    'The identity provider rejects our request. Compare entity id and ACS there with our metadata, and upload our signing certificate if it demands signed requests.',
  Responder: 'The identity provider failed. Look into its log at this time.',
  VersionMismatch: 'The identity provider does not speak SAML 2.0 at this address.',
  AuthnFailed: 'The user could not sign in there: a wrong password, a blocked user, or a user who cancelled.',
  InvalidAttrNameOrValue: 'The identity provider got an attribute that it does not know.',
  InvalidNameIDPolicy:
    'The identity provider cannot give the NameID in this format. Set `nameIdFormat` to one that it gives, or leave it out.',
  NoAuthnContext: 'The identity provider cannot sign users in as demanded. Change or leave out `authnContext`.',
  NoPassive: 'The user is not signed in there.',
  NoAvailableIDP: 'The proxy found no identity provider for the user.',
  PartialLogout: 'Some other applications could not be signed out.',
  ProxyCountExceeded: 'The identity provider may not ask a further one.',
  RequestDenied: 'The user is not assigned to this application. Assign the user or a group at the identity provider.',
  RequestUnsupported: 'The identity provider does not support this request.',
  UnknownPrincipal: 'The identity provider does not know the user.',
  UnsupportedBinding: 'The identity provider does not answer by HTTP-POST. Set the binding of our ACS there to HTTP-POST.',
}

/** The code without its prefix, the inner one where there is one; undefined for success. Throws XmlError. */
export function statusOf(response: XmlElement): { code: string; message: string | undefined } | undefined {
  const status = requireChild(response, [ns.protocol, 'Status'])
  const outer = requireChild(status, [ns.protocol, 'StatusCode'])
  const inner = childOf(outer, [ns.protocol, 'StatusCode'])
  const value = attributeOf(outer, 'Value') ?? ''
  if (value === `${prefix}Success`) return undefined
  const code = (inner && attributeOf(inner, 'Value')) ?? value
  const message = childOf(status, [ns.protocol, 'StatusMessage'])
  return { code: code.replace(prefix, '').slice(0, 200), message: message && contentOf(message).slice(0, 300) }
}

/** The error for a status. */
export function statusError(provider: string, { code, message }: { code: string; message: string | undefined }): SamlStatusError {
  const fix = Object.hasOwn(fixes, code) ? fixes[code] : 'Look into the log of the identity provider at this time.'
  const said = message === undefined ? '' : `: ${message.replace(/\p{Cc}+/gu, ' ')}`
  return new SamlStatusError(`Provider "${provider}" answered with the status "${code}"${said}. ${fix}`, {
    // As OAuth calls it: what the identity provider wrote for people.
    cause: { provider, check: 'status', received: code, fix, ...(message !== undefined && { stated: message }) },
  })
}
