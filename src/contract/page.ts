/** Pages of plugins, what plugins add to pages of others, and their texts. Types only. */
import type { Messages } from './config.ts'
import type { Context } from './context.ts'
import type { Awaitable } from './data.ts'
import type { InputAttributes } from './provider.ts'
import type { Navigation, UIParts } from './ui.ts'

declare const safe: unique symbol
/** Markup whose values were escaped: what `tools.html` makes, and nothing else. */
export interface Markup {
  readonly [safe]: true
  readonly text: string
}
/** What may stand in `tools.html`: everything but `Markup` is escaped; `false`, `null` and `undefined` draw nothing. */
export type Content = Markup | string | number | false | null | undefined | readonly Content[]

/** Origins (`https://challenges.example`) that a widget needs; they are in the Content-Security-Policy of the page that shows it, and of no other. */
export interface Sources {
  script?: readonly string[]
  frame?: readonly string[]
  connect?: readonly string[]
  img?: readonly string[]
  worker?: readonly string[]
}

/** What a page or a part of one is drawn with. */
export interface PageTools extends UIParts {
  /** Template tag that escapes every value. Values of attributes must be quoted. */
  html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup
  /** The text of a key in the language of the page, `{placeholders}` filled in; '' for an unknown key. */
  say(key: string, values?: Readonly<Record<string, Content>>): Content
  /**
   * A form that posts to `action`, a path of the base path (`/two-factor`): with the CSRF token, the `flow` of the query and what slots
   * of the page add. `hidden` are further values that travel along.
   */
  form(action: string, body: Content, hidden?: Readonly<Record<string, string | undefined>>): Promise<Markup>
  /** A labelled input. Its id is `input-<name>-for-<page>`, with `key` `input-<name>-for-<key>`. */
  field(name: string, options: InputAttributes, key?: string): Markup
  /** The button of a form; `quiet` for one that is not the main one. */
  submit(label: Content, options?: { quiet?: boolean; name?: string; value?: string }): Markup
  /** Link that looks like a button. `to` is a path of the base path or a URL. */
  link(label: Content, to: string): Markup
  /**
   * What the user typed into a field of a form that was rejected, so that it is not lost. The handler of the form renders the page again with `error` among its parameters. `action`: only where the form has a field `action` of this value. Undefined on other pages, and for fields with a name of a secret or a code.
   */
  typed(name: string, action?: string): string | undefined
  /** What an error code means, in a box that screen readers announce; nothing without a code. */
  alert(code: string | undefined): Content
  /** BCP 47 tag of the page. */
  readonly lang: string
  /** What users call the site. */
  readonly site: string
  /** What links start with: origin and base path. */
  readonly base: string
  /** A length of time in words. */
  duration(seconds: number): string
  /** A moment in words: date and time in UTC. */
  date(moment: Date): string
}

/** What a page shows, inside the frame that the service `pages` draws. */
export interface PageView {
  title: Content
  /** Default: the title. */
  heading?: Content
  /** Under the heading. */
  lead?: Content
  body: Content
  /**
   * `wide`: a header with logo and account menu, links at the side, and room for cards and tables; for pages behind the sign-in.
   * Default `narrow`: one card in the middle.
   */
  layout?: 'narrow' | 'wide'
  /** Links beside a wide page. */
  navigation?: Navigation
  /** Inline scripts. The page adds its nonce, and permits requests to the origin of the app. */
  scripts?: readonly string[]
  sources?: Sources
  /** Further origins that forms of the page may post or be redirected to (`form-action`); `https:` is any address of https. */
  forms?: readonly string[]
  /** Default 200. */
  status?: number
}
/** Draws a page. `params` are what `ctx.render` was given, or the query. */
export type PageDraw = (
  ctx: Context,
  tools: PageTools,
  params: Readonly<Record<string, string | undefined>>,
) => Awaitable<PageView | Response>
/** One page of a plugin. */
export interface PluginPage {
  readonly name: string
  readonly draw: PageDraw
  /** Its route below the base path, where it has one. */
  readonly path: string | undefined
  readonly plugin: string
}

/** Where a part goes: above or below the content, or among the sections of the account page. Or into each form that begins a sign-in or belongs to a plugin's page. */
export type SlotPlace = 'head' | 'form' | 'foot' | 'account'
/** What a slot draws. Undefined: nothing. */
export interface SlotView {
  html: Markup
  sources?: Sources
  /** Inline scripts. The page adds the nonce of its Content-Security-Policy. */
  scripts?: readonly string[]
}
/**
 * Draws a part. `form` names the form that it is drawn into: the provider's id or the page's name; ids must differ between forms. `action` is the path of
 * the base path that the form posts to.
 */
export type SlotDraw = (
  ctx: Context,
  tools: PageTools,
  form: string | undefined,
  action: string | undefined,
) => Awaitable<SlotView | undefined>
/** One part of a plugin on a page. */
export interface Slot {
  readonly page: string
  readonly place: SlotPlace
  readonly draw: SlotDraw
  readonly order: number
  readonly plugin: string
}

/** What a section of the account page shows. Undefined: nothing for this user. */
export interface AccountSectionView extends Pick<PageView, 'scripts' | 'sources' | 'forms'> {
  heading: Content
  /** One sentence below the heading. */
  text?: Content
  /** Tags beside the heading. */
  tags?: Content
  /** Buttons at the right of the heading. */
  actions?: Content
  /** Name in the navigation. Default: the heading. */
  label?: Content
  /** A red edge, for what cannot be undone. Default false. */
  danger?: boolean
  /** `tools.row` and `tools.table` reach the edges of the card; everything else is indented. */
  body?: Content
}
/** A section of the account page. The built-in ones have the ids `profile` (100), `methods` (200) and `sessions` (300). */
export interface AccountSection {
  /** Of the element and of links to it: letters, digits and dashes. */
  id: string
  /** Lower comes first; default 500. */
  order?: number
  draw(ctx: Context, tools: PageTools): Awaitable<AccountSectionView | undefined>
}

/** What plugins gave to `kernel.page`, `kernel.slot`, `kernel.accountSection` and `kernel.messages`. */
export interface PageParts {
  readonly pages: ReadonlyMap<string, PluginPage>
  /** In their order. */
  readonly slots: readonly Slot[]
  /** In their order. */
  readonly sections: readonly (AccountSection & { readonly plugin: string })[]
  /** Texts of all plugins; the host's `messages` are not among them. */
  readonly texts: Messages
}
