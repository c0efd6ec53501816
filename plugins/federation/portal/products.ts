/** Identity providers that the portal knows: where each thing is in their consoles. Names of menus and fields are theirs, so they are not translated. */

/** Values of a connection that the identity provider needs. */
export type ValueName = 'acs' | 'entityId' | 'metadataUrl' | 'redirectUrl' | 'startUrl' | 'keysUrl'
/** How one protocol is set up in one product. */
export interface Guide {
  /** Menus that lead to a new application. */
  create: string
  /** Fields of the product, and what to enter. */
  values: readonly (readonly [field: string, value: ValueName])[]
  /** Attributes to send, and what they are there. Empty: the product sends them by itself. */
  claims: readonly (readonly [attribute: string, source: string])[]
  /** Where users and groups get the application; undefined: all users have it. */
  assign?: string
  /** Where what the next step asks for is found. */
  find: string
}
/** One product. `other` is any that is not listed. */
export interface Product {
  id: string
  name: string
  saml: Guide
  oidc: Guide
}

const samlValues: Guide['values'] = [
  ['Entity ID', 'entityId'],
  ['ACS URL', 'acs'],
]
const oidcValues: Guide['values'] = [['Redirect URI', 'redirectUrl']]

export const products: readonly Product[] = [
  {
    id: 'entra',
    name: 'Microsoft Entra ID',
    saml: {
      create:
        'Entra admin center › Enterprise applications › New application › Create your own application › Integrate any other application (Non-gallery) › Single sign-on › SAML',
      values: [
        ['Identifier (Entity ID)', 'entityId'],
        ['Reply URL (Assertion Consumer Service URL)', 'acs'],
        ['Sign on URL', 'startUrl'],
      ],
      claims: [
        ['emailaddress', 'user.mail'],
        ['displayname', 'user.displayname'],
        ['groups', 'Add a group claim › Groups assigned to the application'],
      ],
      assign: 'Users and groups › Add user/group',
      find: 'SAML Certificates › App Federation Metadata Url',
    },
    oidc: {
      create: 'Entra admin center › App registrations › New registration › Web',
      values: [['Redirect URI', 'redirectUrl']],
      claims: [
        ['email', 'Token configuration › Add optional claim › ID › email'],
        ['groups', 'Token configuration › Add groups claim'],
      ],
      assign: 'Enterprise applications › Properties › Assignment required, then Users and groups',
      find: 'Issuer: https://login.microsoftonline.com/<Directory (tenant) ID>/v2.0 · Client ID: Overview › Application (client) ID · Secret: Certificates & secrets › New client secret › Value',
    },
  },
  {
    id: 'okta',
    name: 'Okta',
    saml: {
      create: 'Admin Console › Applications › Create App Integration › SAML 2.0',
      values: [
        ['Single sign-on URL', 'acs'],
        ['Audience URI (SP Entity ID)', 'entityId'],
      ],
      claims: [
        ['email', 'user.email'],
        ['name', 'user.displayName'],
        ['groups', 'Group Attribute Statements › Matches regex .*'],
      ],
      assign: 'Assignments › Assign',
      find: 'Sign On › SAML 2.0 › Metadata URL',
    },
    oidc: {
      create: 'Admin Console › Applications › Create App Integration › OIDC - OpenID Connect › Web Application',
      values: [
        ['Sign-in redirect URIs', 'redirectUrl'],
        ['Initiate login URI', 'startUrl'],
      ],
      claims: [['groups', 'Sign On › OpenID Connect ID Token › Group claims filter › groups, Matches regex .*']],
      assign: 'Assignments › Assign',
      find: 'Issuer: https://<your domain>.okta.com · General › Client ID and Client secrets',
    },
  },
  {
    id: 'google',
    name: 'Google Workspace',
    saml: {
      create: 'Admin console › Apps › Web and mobile apps › Add app › Add custom SAML app',
      values: [
        ['ACS URL', 'acs'],
        ['Entity ID', 'entityId'],
        ['Start URL', 'startUrl'],
      ],
      claims: [
        ['email', 'Basic Information › Primary email'],
        ['name', 'Basic Information › First name'],
        ['groups', 'Group membership (optional)'],
      ],
      assign: 'User access › Service status › ON',
      find: 'Download Metadata',
    },
    oidc: {
      create: 'Google Cloud console › APIs & Services › Credentials › Create credentials › OAuth client ID › Web application',
      values: [['Authorized redirect URIs', 'redirectUrl']],
      claims: [],
      find: 'Issuer: https://accounts.google.com · Client ID and Client secret of the OAuth client',
    },
  },
  {
    id: 'ping',
    name: 'Ping Identity',
    saml: {
      create: 'PingOne › Applications › Add › SAML Application › Manually Enter',
      values: [
        ['ACS URLs', 'acs'],
        ['Entity ID', 'entityId'],
      ],
      claims: [
        ['email', 'Email Address'],
        ['name', 'Formatted'],
        ['groups', 'Group Names'],
      ],
      assign: 'Access › Groups',
      find: 'Overview › IDP Metadata URL',
    },
    oidc: {
      create: 'PingOne › Applications › Add › OIDC Web App',
      values: [['Redirect URIs', 'redirectUrl']],
      claims: [
        ['email', 'Email Address'],
        ['name', 'Formatted'],
        ['groups', 'Group Names'],
      ],
      assign: 'Access › Groups',
      find: 'Overview › Issuer ID, Client ID and Client Secret',
    },
  },
  {
    id: 'adfs',
    name: 'AD FS',
    saml: {
      create: 'AD FS Management › Relying Party Trusts › Add Relying Party Trust › Claims aware › Import data published online',
      values: [
        ['Federation metadata address', 'metadataUrl'],
        ['Relying party trust identifier', 'entityId'],
        ['SAML 2.0 SSO service URL', 'acs'],
      ],
      claims: [
        ['Name ID', 'objectGUID (Edit Claim Issuance Policy › Send LDAP Attributes as Claims)'],
        ['E-Mail Address', 'E-Mail-Addresses'],
        ['displayName', 'Display-Name'],
        ['groups', 'Token-Groups - Unqualified Names'],
      ],
      assign: 'Access Control Policies',
      find: 'https://<your server>/FederationMetadata/2007-06/FederationMetadata.xml',
    },
    oidc: {
      create: 'AD FS Management › Application Groups › Add Application Group › Server application accessing a web API',
      values: [['Redirect URI', 'redirectUrl']],
      claims: [
        ['email', 'E-Mail-Addresses'],
        ['name', 'Display-Name'],
        ['groups', 'Token-Groups - Unqualified Names'],
      ],
      assign: 'Access Control Policies',
      find: 'Issuer: https://<your server>/adfs · Client Identifier · Generate a shared secret',
    },
  },
  {
    id: 'jumpcloud',
    name: 'JumpCloud',
    saml: {
      create:
        'Admin Portal › SSO Applications › Add New Application › Custom Application › Manage Single Sign-On (SSO) › Configure SSO with SAML',
      values: [
        ['SP Entity ID', 'entityId'],
        ['ACS URLs › Default', 'acs'],
        ['Login URL', 'startUrl'],
      ],
      claims: [
        ['email', 'email'],
        ['name', 'fullname'],
        ['groups', 'include group attribute'],
      ],
      assign: 'User Groups',
      find: 'SSO › Copy Metadata URL',
    },
    oidc: {
      create: 'Admin Portal › SSO Applications › Add New Application › Custom Application › Configure SSO with OIDC',
      values: [
        ['Redirect URIs', 'redirectUrl'],
        ['Login URL', 'startUrl'],
      ],
      claims: [
        ['email', 'email'],
        ['name', 'fullname'],
        ['groups', 'include group attribute'],
      ],
      assign: 'User Groups',
      find: 'Issuer: https://oauth.id.jumpcloud.com/ · Client ID and Client Secret are shown once after Activate',
    },
  },
  {
    id: 'keycloak',
    name: 'Keycloak',
    saml: {
      create: 'Admin console › Clients › Create client › SAML',
      values: [
        ['Client ID', 'entityId'],
        ['Valid redirect URIs', 'acs'],
        ['Master SAML Processing URL', 'acs'],
      ],
      claims: [
        ['Name ID Format', 'persistent'],
        ['email', 'Client scopes › Add mapper › User Property › email'],
        ['groups', 'Client scopes › Add mapper › Group list › groups'],
      ],
      find: 'Realm settings › General › SAML 2.0 Identity Provider Metadata',
    },
    oidc: {
      create: 'Admin console › Clients › Create client › OpenID Connect › Client authentication: On',
      values: [['Valid redirect URIs', 'redirectUrl']],
      claims: [['groups', 'Client scopes › Add mapper › Group Membership › groups']],
      find: 'Issuer: https://<your server>/realms/<realm> · Client ID · Credentials › Client Secret',
    },
  },
  {
    id: 'other',
    name: '',
    saml: {
      create: '',
      values: [...samlValues, ['Metadata', 'metadataUrl'], ['Start URL', 'startUrl']],
      claims: [
        ['email', ''],
        ['name', ''],
        ['groups', ''],
      ],
      find: '',
    },
    oidc: {
      create: '',
      values: [...oidcValues, ['Initiate login URI', 'startUrl']],
      claims: [
        ['email', ''],
        ['name', ''],
        ['groups', ''],
      ],
      find: '',
    },
  },
]

/** `other` for an unknown id. */
export function productOf(id: string | null | undefined): Product {
  return products.find((one) => one.id === id) ?? products.at(-1)!
}
