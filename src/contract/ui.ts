/** The parts that pages behind the sign-in are drawn with. Types only; `plugins/pages/pages/ui` draws them. */
import type { Content, Markup } from './page.ts'

/** How a button or a tag looks: the main one, one that destroys, one without a border. */
export type Tone = 'plain' | 'primary' | 'danger' | 'quiet'

/** One section of a page: a title, one sentence, actions at the right, and what follows below. */
export interface CardOptions {
  /** Of the element; links to `#id` lead to it. Letters, digits and dashes. */
  id?: string | undefined
  /** Heading of the section. */
  title: Content
  /** One sentence below the title. */
  text?: Content
  /** Tags beside the title. */
  tags?: Content
  /** Left of the title: an avatar or an icon. */
  picture?: Content
  /** Buttons at the right of the title. */
  actions?: Content
  /** Rows and tables reach the edges; everything else is indented. */
  body?: Content
  /** A red edge, for what cannot be undone. Default false. */
  danger?: boolean | undefined
}
/** One line of a card. */
export interface RowOptions {
  /** Of the element that names the row, for `describedBy` of its buttons. */
  id?: string | undefined
  /** First line, in bold. */
  title: Content
  /** Small text below the title; of a list the parts are joined by dots. Empty parts are left out. */
  text?: Content | readonly Content[]
  /** Beside the title. */
  tags?: Content
  /** Left of the title: an avatar, an `<img>` or `<svg>`. */
  picture?: Content
  /** Buttons and forms at the right. */
  actions?: Content
}
/** One column of a table. */
export interface TableColumn {
  title: Content
  /** Value of the query parameter `sort` that orders by this column. Without it the heading is no link. */
  sort?: string | undefined
  /** The column has buttons: its title is for screen readers only, and it stands at the end. */
  actions?: boolean | undefined
}
/** One filter of a table: a list to choose from. */
export interface TableFilter {
  /** Name of the query parameter. */
  name: string
  label: Content
  /** What is chosen now; '' for nothing. */
  value?: string | undefined
  /** Values and their texts. An option for "all" has the value ''. */
  options: readonly (readonly [value: string, text: Content])[]
}
/** A table with search, filters, order and pages. All of them are links and a GET form, so they work without JavaScript. */
export interface TableOptions {
  /** What the table lists, for screen readers. */
  label: Content
  /** Path of the page below the base path, for links and the form. */
  path: string
  /** The query of the page: links keep it. Parameters `after`, `before` and `page` are dropped by a new search or order. */
  query?: Readonly<Record<string, string | undefined>> | undefined
  /** Headings, from the start of the line. */
  columns: readonly TableColumn[]
  /** Cells of each row, as many as columns. */
  rows: readonly (readonly Content[])[]
  /** What is shown without rows; `emptyState` makes it. Default: a sentence. */
  empty?: Content
  /** A search field; `name` is its query parameter, default `q`. */
  search?: { name?: string; label: Content; value?: string | undefined } | undefined
  /** Lists to choose from beside the search. */
  filters?: readonly TableFilter[] | undefined
  /** The order now: `created` ascending, `-created` descending. */
  sort?: string | undefined
  /** Further buttons beside the search. */
  tools?: Content
  /** The page that is shown, counted from 1, and the total where it is known. */
  range?: { from: number; to: number; total?: number | undefined } | undefined
  /** Query parameters of the pages before and after; undefined: there is none. */
  previous?: Readonly<Record<string, string>> | undefined
  /** Query parameters of the next page; undefined: there is none. */
  next?: Readonly<Record<string, string>> | undefined
}
/** A question before something that cannot be undone. */
export interface DialogOptions {
  /** Of the dialog: letters, digits and dashes. */
  id: string
  /** Text of the button that opens it. */
  label: Content
  /** The question. */
  title: Content
  /** What happens afterwards. */
  text?: Content
  /** A form with its fields and its button; the dialog adds "Cancel". */
  body: Content
  /** Path of a page that asks the same, for browsers without JavaScript: below the base path. */
  path: string
  /** How the button that opens it looks. Default `plain`. */
  tone?: Tone | undefined
  /** Id of the element that says what the button is about. */
  describedBy?: string | undefined
}
/** One link of a navigation, of tabs or of a menu. */
export interface NavigationItem {
  label: Content
  /** A path below the base path, `#id` on the same page, or a URL. */
  to: string
  /** The page that is shown. */
  current?: boolean | undefined
}
/** Links beside a wide page; a menu on a phone. */
export interface Navigation {
  /** Its name for screen readers: "Account". */
  label: Content
  items: readonly NavigationItem[]
}
/** What can be said of a user in a picture. */
export interface AvatarOptions {
  /** Name or address; initials are made of it. */
  name: string
  /** URL of a picture: shown when it is on the origin of the app or a `data:` URL, else the initials. */
  picture?: string | null | undefined
  /** Default: fits a row. */
  size?: 'small' | 'large' | undefined
}
/** A button of a form. */
export interface ButtonOptions {
  /** Default `plain`. */
  tone?: Tone | undefined
  /** Name of the form field that the button sends. */
  name?: string | undefined
  /** Value of that field. */
  value?: string | undefined
  /** Id of the element that says what the button is about, so that equal buttons differ for screen readers. */
  describedBy?: string | undefined
}

/** The parts of pages. Each returns markup with all values escaped, works without JavaScript and mirrors itself for right-to-left languages. */
export interface UIParts {
  card(options: CardOptions): Markup
  row(options: RowOptions): Markup
  /** Names and values, for facts that are not changed here. Pairs without a value are left out. */
  facts(pairs: readonly (readonly [name: Content, value: Content])[]): Markup
  table(options: TableOptions): Markup
  /** A button that opens a question; without JavaScript it leads to the page at `path`. */
  dialog(options: DialogOptions): Markup
  /** Links to parts of one subject, in a line. */
  tabs(options: Navigation): Markup
  /** What a list shows that has nothing in it: say what would be here, and how it gets here. */
  emptyState(options: { title: Content; text?: Content; action?: Content }): Markup
  /** A text in a box with a button that copies it. `download` adds a button that saves it under this name, `print` one that prints it. `shown` is drawn instead of the box, for a list. */
  copyable(text: string, options?: { label?: Content; download?: string; print?: boolean; shown?: Content }): Markup
  /** A short word in a coloured pill. */
  tag(label: Content, tone?: 'ok' | 'warn' | 'danger'): Markup
  avatar(options: AvatarOptions): Markup
  /** "3 days ago", with the exact time in UTC on hover. */
  moment(date: Date): Markup
  /** A small button of a form, for rows, headers of cards and tables. */
  button(label: Content, options?: ButtonOptions): Markup
  /** A link that looks like `button`. */
  buttonLink(label: Content, to: string, options?: Pick<ButtonOptions, 'tone' | 'describedBy'>): Markup
  /** A labelled list to choose from. */
  select(
    name: string,
    options: { label: string; options: readonly (readonly [value: string, text: Content])[]; value?: string | undefined },
    key?: string,
  ): Markup
  /** A message that something was done; screen readers announce it. */
  toast(text: Content): Markup
  /** Numbers with their names, in boxes side by side. */
  stats(items: readonly { label: Content; value: Content; text?: Content }[]): Markup
  /** Grey bars where a list will be, while a script loads it. */
  skeleton(rows?: number): Markup
}
