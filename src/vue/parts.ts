/** Ready-made parts without styles: they draw what the server offers. `authkernel/parts.css` gives them the look of the built-in pages. */
import {
  type AccountPageProps,
  type ApiKeysProps,
  createAccountPage,
  createApiKeys,
  createOrganizationPage,
  createOrganizationSwitcher,
  createProtect,
  createSignIn,
  createSignUp,
  createUserButton,
  type OrganizationPageProps,
  type OrganizationSwitcherProps,
  type PartInstance,
  type PartProps,
  type ProtectDemand,
  type ProtectState,
  type SignInProps,
  type UserButtonProps,
} from 'authkernel/parts'
import type { PageClient } from 'authkernel/client'
import { type Component, defineComponent, onMounted, onScopeDispose, type PropType, shallowRef, useId, watch } from 'vue'
import { drawNode } from './draw.ts'
import { usePageClient } from './session.ts'

/** A component with these properties. */
export type PartComponent<Props> = Component<Props>

/** Sign-in with one field for the address or name, then the methods that fit: password, code, link, passkey, providers, second factor. */
export const SignIn: PartComponent<SignInProps> = /* @__PURE__ */ createComponent('SignIn', createSignIn, ['redirectTo', 'onSignedIn'])
/** Registration by the methods that the server offers. */
export const SignUp: PartComponent<SignInProps> = /* @__PURE__ */ createComponent('SignUp', createSignUp, ['redirectTo', 'onSignedIn'])
/** Who is signed in, with a way to the account and out; else a button that leads to the sign-in page. */
export const UserButton: PartComponent<UserButtonProps> = /* @__PURE__ */ createComponent('UserButton', createUserButton, [
  'accountUrl',
  'signInUrl',
  'redirectTo',
])
/** The account: profile, email, password, sign-in methods, second factor, sessions, data. Shows `SignIn` to signed-out visitors. */
export const AccountPage: PartComponent<AccountPageProps> = /* @__PURE__ */ createComponent('AccountPage', createAccountPage, [])
/** The organization that the user acts for, with a menu to change it. */
export const OrganizationSwitcher: PartComponent<OrganizationSwitcherProps> = /* @__PURE__ */ createComponent(
  'OrganizationSwitcher',
  createOrganizationSwitcher,
  ['organizationUrl', 'personal'],
)
/** Members, invitations and settings of an organization. Shows `SignIn` to signed-out visitors. */
export const OrganizationPage: PartComponent<OrganizationPageProps> = /* @__PURE__ */ createComponent(
  'OrganizationPage',
  createOrganizationPage,
  ['organization'],
)
/** The API keys of the user. Shows `SignIn` to signed-out visitors. */
export const ApiKeys: PartComponent<ApiKeysProps> = /* @__PURE__ */ createComponent('ApiKeys', createApiKeys, [])

/** Shows its slot to users who have what is asked for, and the slots `fallback` and `pending` otherwise. It hides; the server must reject. */
export const Protect: PartComponent<ProtectDemand> = /* @__PURE__ */ defineComponent({
  name: 'Protect',
  props: {
    permission: { type: String, default: undefined },
    organization: { type: String, default: undefined },
    role: { type: String, default: undefined },
    when: { type: Function as PropType<NonNullable<ProtectDemand['when']>>, default: undefined },
  },
  setup(props, { slots }) {
    const shared = usePageClient()
    const state = shallowRef<ProtectState>(createProtect(shared, props).getInitial())
    let stop: (() => void) | undefined
    const start = (): void => {
      stop?.()
      const store = createProtect(shared, { ...props })
      stop = store.subscribe(() => (state.value = store.get()))
      state.value = store.get()
    }
    onMounted(start)
    watch(() => [props.permission, props.organization, props.role], start)
    onScopeDispose(() => stop?.())
    return () =>
      state.value === 'allowed' ? slots['default']?.() : state.value === 'refused' ? slots['fallback']?.() : slots['pending']?.()
  },
}) as PartComponent<ProtectDemand>

function createComponent<P extends PartProps>(
  name: string,
  create: (page: PageClient, id: string, readProps: () => P) => PartInstance<P>,
  own: readonly (keyof P & string)[],
): PartComponent<P> {
  // Without a type a property is taken as it is given.
  const props = Object.fromEntries(['texts', 'lang', ...own].map((property) => [property, { type: null, default: undefined }]))
  return defineComponent({
    name,
    props,
    setup(given) {
      const readProps = (): P => given as P
      const part = create(usePageClient(), useId(), readProps)
      const state = shallowRef(part.getInitial())
      let stop: (() => void) | undefined
      onMounted(() => {
        stop = part.subscribe(() => (state.value = part.get()))
        state.value = part.get()
      })
      onScopeDispose(() => stop?.())
      return () => drawNode(part.view(state.value, readProps()))
    },
  }) as PartComponent<P>
}
