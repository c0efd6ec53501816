/** `authkernel/solid`: the session for components of Solid 1, rendered on a server or not, and ready-made parts without styles. */
export { SessionProvider, type SessionProviderProps, useAuthClient, usePageClient, type UseSession, useSession } from './session.ts'
export {
  AccountPage,
  ApiKeys,
  OrganizationPage,
  OrganizationSwitcher,
  Protect,
  type ProtectProps,
  SignIn,
  SignUp,
  UserButton,
} from './parts.ts'
