/** A server with every plugin that brings methods for the client, and a page that calls each of them: the compiler knows both sides. */
import { type AdmissionClient, admissionPlugin } from 'authkernel/plugins/admission'
import { type Auth, createAuth } from 'authkernel'
import type { AuthClient } from 'authkernel/client'
import type { Plugin } from 'authkernel/kernel'
import { type AdminClient, adminPlugin } from 'authkernel/plugins/admin'
import { type ApiKeysClient, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { codesPlugin } from 'authkernel/plugins/codes'
import { type GuestClient, guestPlugin } from 'authkernel/plugins/guest'
import { type ImpersonationClient, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { type JwtClient, jwtPlugin } from 'authkernel/plugins/jwt'
import { type MultiSessionClient, multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { type OrganizationClient, organizationsPlugin } from 'authkernel/plugins/organizations'
import { type PasswordsClient, passwordsPlugin } from 'authkernel/plugins/passwords'
import { type TwoFactorClient, twoFactorPlugin } from 'authkernel/plugins/two-factor'
import { type UsernamesClient, usernamesPlugin } from 'authkernel/plugins/usernames'

type CodesClient = ReturnType<typeof codesPlugin> extends Plugin<infer Ext> ? Ext : never
type Methods = AdminClient &
  ApiKeysClient &
  CodesClient &
  AdmissionClient &
  GuestClient &
  ImpersonationClient &
  JwtClient &
  MultiSessionClient &
  OrganizationClient &
  PasswordsClient &
  TwoFactorClient &
  UsernamesClient

export const auth: Auth<Methods> = createAuth({ secret: 'a secret of more than thirty-two characters', env: false })
  .use(passwordsPlugin({ breached: false }))
  .use(usernamesPlugin())
  .use(codesPlugin({ send: () => undefined }))
  .use(twoFactorPlugin())
  .use(apiKeysPlugin({ routes: true }))
  .use(jwtPlugin({ audiences: ['https://api.example'], routes: true }))
  .use(admissionPlugin({ mode: 'waitlist', can: () => false, pages: true }))
  .use(guestPlugin())
  .use(multiSessionPlugin())
  .use(impersonationPlugin({ can: () => false }))
  .use(adminPlugin({ can: () => false, pages: true }))
  .use(organizationsPlugin())

export function callAll(client: AuthClient<typeof auth>): Promise<unknown>[] {
  const id = 'id'
  const organization = 'o'
  const order = { userId: 'u', reason: 'r' }
  return [
    client.passwords.signUp({ email: '', password: '' }),
    client.passwords.requestReset({ email: '' }),
    client.passwords.getRule(),
    client.passwords.hasPassword(),
    client.passwords.change({ current: '', password: '' }),
    client.usernames.getName(),
    client.usernames.setName({ name: '' }),
    client.codes.send({ email: '' }),
    client.codes.verify({ code: '' }),
    client.twoFactor.getQuestion(),
    client.twoFactor.getPasskeyOptions(),
    client.twoFactor.verify({ data: '' }),
    client.twoFactor.verify({ code: '', remember: true }),
    client.twoFactor.sendCode(),
    client.twoFactor.list(),
    client.twoFactor.addApp(),
    client.twoFactor.confirm({ id, code: '' }),
    client.twoFactor.remove({ id }),
    client.twoFactor.renewCodes(),
    client.twoFactor.listBrowsers(),
    client.twoFactor.forgetBrowser({ id }),
    client.apiKeys.getChoices(),
    client.apiKeys.list(),
    client.apiKeys.create({ name: '' }),
    client.apiKeys.rotate({ id }),
    client.apiKeys.revoke({ id }),
    client.jwt.token({ audience: '' }),
    client.admission.redeem({ code: '' }),
    client.admission.join({ email: '' }),
    client.admission.invite({}),
    client.admission.listInvitations({}),
    client.admission.revoke({ id }),
    client.admission.listWaitlist({}),
    client.admission.approve({ id }),
    client.admission.decline({ id }),
    client.guest.start(),
    client.multiSession.list(),
    client.multiSession.switch({ id }),
    client.multiSession.add(),
    client.multiSession.signOut({ which: id }),
    client.impersonation.stop(),
    client.admin.list({}),
    client.admin.get({ userId: '' }),
    client.admin.ban(order),
    client.admin.unban(order),
    client.admin.signOut(order),
    client.admin.newFactor(order),
    client.admin.verifyAddress(order),
    client.organizations.list(),
    client.organizations.create({ name: '' }),
    client.organizations.invite({ organization, email: '' }),
    client.organizations.listMembers({ organization }),
    client.organizations.setRole({ organization, userId: '', role: '' }),
    client.organizations.remove({ organization, userId: '' }),
    client.organizations.hasPermission({ permission: '' }),
    client.organizations.setActive({ organization }),
    client.organizations.listTeams({ organization }),
    client.organizations.listDomains({ organization }),
  ]
}
