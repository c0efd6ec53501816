/** What an assertion must say to sign a user in (SAML Profiles section 4.1.4.2 and 4.1.4.3). Given are elements that were read from signed bytes. */
import { assertSame, Refusal } from './errors.ts'
import type { SamlAnswer } from './answer.ts'
import { readAttributes } from './attributes.ts'
import type { SignedResponse } from './response.ts'
import { assertBefore, assertSince, type Clock } from './time.ts'
import { attributeOf, childOf, contentOf, elementsOf, ns, requireChild } from './tree.ts'
import type { XmlElement } from './xml.ts'

/** What the assertion is held against. */
export interface Expectation {
  /** Entity id of the identity provider. */
  readonly issuer: string
  /** Our entity id. */
  readonly audience: string
  /** Our assertion consumer service. */
  readonly acs: string
  /** Id of our request; undefined: the identity provider began the sign-in. */
  readonly request: string | undefined
  /** Authentication contexts that were demanded. */
  readonly contexts: readonly string[]
  /** Attribute that names the account instead of the NameID. */
  readonly subject: string | undefined
  readonly clock: Clock
}

const bearer = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
const transient = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const unspecifiedFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified'
const entity = 'urn:oasis:names:tc:SAML:2.0:nameid-format:entity'

/** Milliseconds that an assertion may be old, whatever it says itself: ids of used ones are kept for this long. */
export const maxAge = 600_000

/** Throws `Refusal` with the check that failed; XmlError for another form. */
export function checkAssertion(signed: SignedResponse, expected: Expectation): SamlAnswer {
  checkResponse(signed, expected)
  const { assertion } = signed
  const { clock, issuer } = expected
  if (attributeOf(assertion, 'Version') !== '2.0') refuse('form', 'The version of the assertion is not 2.0.')
  const assertionId = attributeOf(assertion, 'ID') ?? ''
  if (assertionId === '') refuse('form', 'The assertion has no ID.')
  assertIssuer(requireChild(assertion, [ns.assertion, 'Issuer']), issuer)
  assertFresh(attributeOf(assertion, 'IssueInstant'), clock)
  checkConditions(requireChild(assertion, [ns.assertion, 'Conditions']), expected)
  const subject = requireChild(assertion, [ns.assertion, 'Subject'])
  checkConfirmation(subject, expected)
  const name = readNameId(subject)
  const attributes = readAttributes(assertion)
  return {
    ...name,
    subject: subjectOf(name, attributes, expected.subject),
    attributes,
    ...readAuthentication(assertion, expected),
    assertionId,
  }
}

/** Unless the response is signed itself this only finds mistakes: what counts is in the assertion. */
function checkResponse({ response, isSigned }: SignedResponse, { acs, issuer, request, clock }: Expectation): void {
  const destination = attributeOf(response, 'Destination')
  if (destination !== undefined || isSigned)
    assertSame(
      'destination',
      '`Destination` of the response',
      destination,
      acs,
      'Set the ACS at the identity provider to the expected address.',
    )
  const from = childOf(response, [ns.assertion, 'Issuer'])
  if (from) assertIssuer(from, issuer)
  assertRequest('the response', attributeOf(response, 'InResponseTo'), request)
  assertFresh(attributeOf(response, 'IssueInstant'), clock)
}

function assertIssuer(element: XmlElement, issuer: string): void {
  const format = attributeOf(element, 'Format')
  if (format !== undefined && format !== entity) refuse('issuer', 'The issuer is no entity id.')
  assertSame('issuer', 'The issuer', contentOf(element), issuer, 'Set `idp.entityId` to the entity id that the identity provider uses.')
}

function assertRequest(where: string, received: string | undefined, request: string | undefined): void {
  if (received === request) return
  throw new Refusal(`\`InResponseTo\` of ${where} names another request.`, { check: 'request', expected: request ?? 'none', received })
}

function assertFresh(instant: string | undefined, clock: Clock): void {
  const issued = assertSince(instant, 'IssueInstant', clock)
  assertBefore(new Date(issued + maxAge).toISOString(), 'IssueInstant and ten minutes', clock)
}

function checkConditions(conditions: XmlElement, { audience, clock }: Expectation): void {
  const [begin, end] = [attributeOf(conditions, 'NotBefore'), attributeOf(conditions, 'NotOnOrAfter')]
  if (begin !== undefined) assertSince(begin, 'NotBefore', clock)
  if (end !== undefined) assertBefore(end, 'NotOnOrAfter', clock)
  let restrictions = 0
  for (const condition of elementsOf(conditions)) {
    const known = condition.namespace === ns.assertion ? condition.local : ''
    // A used assertion never counts again, so `OneTimeUse` says nothing new. What may be proxied is no concern of ours.
    if (known === 'OneTimeUse' || known === 'ProxyRestriction') continue
    if (known !== 'AudienceRestriction') refuse('conditions', 'The assertion has a condition that is not known here.', condition.local)
    restrictions++
    const audiences = elementsOf(condition, [ns.assertion, 'Audience']).map(contentOf)
    if (!audiences.includes(audience))
      throw new Refusal('The assertion is for another audience.', {
        check: 'audience',
        expected: audience,
        received: audiences.join(', '),
        fix: 'Set the entity id (audience) of this app at the identity provider to the expected one.',
      })
  }
  if (restrictions === 0) refuse('audience', 'The assertion has no `AudienceRestriction`.')
}

function checkConfirmation(subject: XmlElement, { acs, request, clock }: Expectation): void {
  const bearers = elementsOf(subject, [ns.assertion, 'SubjectConfirmation']).filter((one) => attributeOf(one, 'Method') === bearer)
  const [confirmation, ...more] = bearers
  if (!confirmation || more.length > 0) refuse('subject', 'The assertion has not exactly one `SubjectConfirmation` with the method bearer.')
  const data = requireChild(confirmation, [ns.assertion, 'SubjectConfirmationData'])
  assertSame(
    'recipient',
    '`Recipient`',
    attributeOf(data, 'Recipient'),
    acs,
    'Set the ACS (recipient) of this app at the identity provider to the expected address.',
  )
  assertBefore(attributeOf(data, 'NotOnOrAfter'), 'NotOnOrAfter of the confirmation', clock)
  const begin = attributeOf(data, 'NotBefore')
  if (begin !== undefined) assertSince(begin, 'NotBefore of the confirmation', clock)
  assertRequest('the assertion', attributeOf(data, 'InResponseTo'), request)
}

function readNameId(subject: XmlElement): Pick<SamlAnswer, 'nameId' | 'nameIdFormat' | 'qualifiers'> {
  if (childOf(subject, [ns.assertion, 'EncryptedID']))
    refuse('subject', 'The NameID is encrypted on its own. Encrypt the assertion instead.')
  return readName(requireChild(subject, [ns.assertion, 'NameID']))
}

/** A NameID. Throws `Refusal` for an empty one, and one of more than 1024 characters. */
export function readName(element: XmlElement): Pick<SamlAnswer, 'nameId' | 'nameIdFormat' | 'qualifiers'> {
  const nameId = contentOf(element)
  if (nameId === '' || nameId.length > 1024 || /\p{Cc}/u.test(nameId))
    refuse('subject', 'The NameID is empty, too long or has control characters.')
  const [idp, sp] = [attributeOf(element, 'NameQualifier'), attributeOf(element, 'SPNameQualifier')]
  const qualifiers = { ...(idp !== undefined && { idp }), ...(sp !== undefined && { sp }) }
  return {
    nameId,
    nameIdFormat: attributeOf(element, 'Format') ?? unspecifiedFormat,
    ...(Object.keys(qualifiers).length > 0 && { qualifiers }),
  }
}

function subjectOf(
  { nameId, nameIdFormat }: Pick<SamlAnswer, 'nameId' | 'nameIdFormat'>,
  attributes: Record<string, string[]>,
  name: string | undefined,
): string {
  if (name !== undefined) {
    const values = Object.hasOwn(attributes, name) ? attributes[name]! : []
    const [value = '', ...more] = values
    if (value !== '' && value.length <= 1024 && more.length === 0) return value
    throw new Refusal(`The attribute \`${name}\`, which names the account, has ${values.length} values.`, {
      check: 'subject',
      received: Object.keys(attributes).join(', '),
      fix: 'Let the identity provider send the attribute of the option `subject` with one value.',
    })
  }
  if (nameIdFormat === transient)
    throw new Refusal('The NameID is transient: it is another one at each sign-in, and names no account.', {
      check: 'subject',
      received: nameIdFormat,
      fix: 'Let the identity provider send a persistent NameID, or set `subject` to an attribute that stays the same.',
    })
  return nameId
}

function readAuthentication(
  assertion: XmlElement,
  { clock, contexts }: Expectation,
): Pick<SamlAnswer, 'authTime' | 'sessionIndex' | 'authnContext'> {
  const [statement, ...more] = elementsOf(assertion, [ns.assertion, 'AuthnStatement'])
  if (!statement || more.length > 0) refuse('context', 'The assertion has not exactly one `AuthnStatement`.')
  const at = assertSince(attributeOf(statement, 'AuthnInstant'), 'AuthnInstant', clock)
  const ends = attributeOf(statement, 'SessionNotOnOrAfter')
  if (ends !== undefined) assertBefore(ends, 'SessionNotOnOrAfter', clock)
  const sessionIndex = attributeOf(statement, 'SessionIndex')
  const context = childOf(statement, [ns.assertion, 'AuthnContext'])
  const reference = context && childOf(context, [ns.assertion, 'AuthnContextClassRef'])
  const authnContext = reference && contentOf(reference).slice(0, 300)
  if (contexts.length > 0 && !contexts.includes(authnContext ?? ''))
    throw new Refusal('The user was authenticated in another way than the one that was asked for.', {
      check: 'context',
      expected: contexts.join(', '),
      received: authnContext,
      fix: 'Change `authnContext`, or the sign-in policy of the identity provider.',
    })
  return {
    authTime: Math.floor(at / 1000),
    ...(sessionIndex !== undefined && sessionIndex !== '' && { sessionIndex: sessionIndex.slice(0, 255) }),
    ...(authnContext !== undefined && { authnContext }),
  }
}

function refuse(check: 'form' | 'issuer' | 'audience' | 'conditions' | 'subject' | 'context', message: string, received?: string): never {
  throw new Refusal(message, { check, received })
}
