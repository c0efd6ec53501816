/** Japanese texts of the pages. */
import type { Texts } from './en.ts'

export const ja: Texts = {
  'signIn.title': 'ログイン',
  'signIn.heading': 'ログイン',
  'signIn.subtitle': '{site} に進みます',
  'signIn.submit': '{name} でログイン',
  'signIn.or': 'または',
  'signIn.empty': '利用できるログイン方法がまだありません。',
  'signIn.noScript': '{name} でのログインには JavaScript が必要ですが、このブラウザーでは無効になっています。',

  'signOut.title': 'ログアウト',
  'signOut.heading': 'ログアウト',
  'signOut.text': '{site} からログアウトしますか?',
  'signOut.submit': 'ログアウト',
  'signOut.cancel': 'ログインしたままにする',

  'verifyRequest.title': 'メールの確認',
  'verifyRequest.heading': 'メールをご確認ください',
  'verifyRequest.text': 'リンクをお送りしました。リンクを開くと {site} へのログインが完了します。',
  'verifyRequest.expires': 'リンクの有効期間:{duration}',
  'verifyRequest.hint': 'メールが届かない場合は、迷惑メールフォルダーをご確認いただくか、{again}。',
  'verifyRequest.again': 'もう一度お試しください',

  'verifyConfirm.title': 'ログインの確認',
  'verifyConfirm.heading': 'あと少しで完了です',
  'verifyConfirm.text': '次のアカウントで {site} にログインします',
  'verifyConfirm.submit': '続ける',
  'verifyConfirm.notYou': 'お心当たりがない場合は、このページを閉じてください。「続ける」を押すまで何も起こりません。',

  'error.title': 'エラー',
  'error.signIn': 'ログインに戻る',
  'error.code': 'コード:{code}',

  'error.default.heading': '問題が発生しました',
  'error.default': 'ログインできませんでした。もう一度お試しください。',
  'error.Retry': 'うまくいきませんでした。もう一度お試しいただくか、別のアカウントをご利用ください。',
  'error.Configuration.heading': '現在ログインできません',
  'error.Configuration':
    'サーバー側で問題が発生しています。しばらくしてからもう一度お試しください。サイトを運営されている方は、サーバーのログで詳細をご確認ください。',
  'error.AccessDenied.heading': 'アクセスできません',
  'error.AccessDenied': 'このアカウントではログインできません。別のアカウントをお持ちの場合は、そちらをお試しください。',
  'error.Verification.heading': 'このリンクは無効です',
  'error.Verification': '有効期限が切れているか、すでに使用されています。新しいリンクを取得し、すぐに開いてください。',
  'error.Unavailable.heading': 'しばらくしてからお試しください',
  'error.Unavailable': '現在、システムの一部に接続できません。データは失われていません。',
  'error.InvalidCheck.heading': 'ログインの期限が切れました',
  'error.InvalidCheck': '時間がかかりすぎたか、すでに完了しているか、別のブラウザーで開始されています。最初からやり直してください。',
  'error.InvalidLink.heading': 'ページが見つかりません',
  'error.InvalidLink': 'リンクが不完全か、すでに存在しません。最初からやり直してください。',
  'error.SignOutError.heading': 'ログアウトが完了していない可能性があります',
  'error.SignOutError':
    'このブラウザーではログアウトしましたが、サーバー側のセッションを終了できませんでした。後でもう一度お試しください。',
  'error.WebAuthnVerificationError.heading': 'パスキーを確認できません',
  'error.WebAuthnVerificationError': 'パスキーを確認できませんでした。もう一度お試しいただくか、別の方法でログインしてください。',
  'error.OAuthSignInError': '選択されたサービスに現在接続できません。もう一度お試しいただくか、別の方法でログインしてください。',
  'error.OAuthAccountNotLinked':
    'このメールアドレスのアカウントはすでに存在します。これまでの方法でログインしてください。その後、ほかのアカウントを連携できます。',
  'error.EmailSignInError': 'メールを送信できませんでした。メールアドレスを確認して、もう一度お試しください。',
  'error.CredentialsSignin': '入力内容が正しくありません。ご確認のうえ、もう一度お試しください。',
  'error.SessionRequired': 'このページを表示するにはログインしてください。',
  'error.MissingCSRF': 'ページを開いてから時間が経ちすぎたか、ブラウザーで Cookie が無効になっています。もう一度お試しください。',

  'script.cancelled': 'キャンセルされたか、時間がかかりすぎました。もう一度お試しください。',
  'script.failed': 'うまくいきませんでした。もう一度お試しください。',
  'script.known': 'この端末には、このアカウントのパスキーがすでにあります。',
  'script.unsupported': 'このブラウザーはパスキーに対応していません。',

  'text:Email': 'メールアドレス',
  'text:Email address': 'メールアドレス',
  'text:Password': 'パスワード',
  'text:Username': 'ユーザー名',
  'text:Name': '名前',
  'text:Code': 'コード',
  'text:you@example.com': 'name@example.com',
}
