/** `authkernel/vue`: the session for components of Vue 3, and ready-made parts without styles. */
export { provideSession, sessionPlugin, useAuthClient, usePageClient, type UseSession, useSession } from './session.ts'
export {
  AccountPage,
  ApiKeys,
  OrganizationPage,
  OrganizationSwitcher,
  type PartComponent,
  Protect,
  SignIn,
  SignUp,
  UserButton,
} from './parts.ts'
