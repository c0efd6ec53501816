/** What remains of a response once it was checked: plain data that may be sealed. */

/** What the identity provider says of a user. */
export interface SamlAnswer {
  /** The text of the NameID. */
  nameId: string
  /** Its format; `urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified` where it says none. */
  nameIdFormat: string
  /** What names the account: the NameID, or the value of the attribute that the option `subject` names. */
  subject: string
  /** All attributes by their names. */
  attributes: Record<string, string[]>
  /** The session there. */
  sessionIndex?: string
  /** `NameQualifier` and `SPNameQualifier` of the NameID. */
  qualifiers?: { idp?: string; sp?: string }
  /** When the user proved who they are there, in seconds since the epoch. */
  authTime: number
  /** How: a class of authentication contexts. */
  authnContext?: string
  /** Id of the assertion. */
  assertionId: string
}

/** One text of a user, by the first of several attribute names that has a value. */
export function firstValue({ attributes }: Pick<SamlAnswer, 'attributes'>, names: readonly string[]): string | undefined {
  return names
    .map((name) => (Object.hasOwn(attributes, name) ? attributes[name]?.[0] : undefined))
    .find((text) => text !== undefined && text !== '')
}
