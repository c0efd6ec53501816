/** Texts of the page that begins a sign-in with a connection, and of errors. */
import type { Messages } from 'authkernel/kernel'

export const messages: Messages = {
  en: {
    'sso.mail.certificate.subject': 'The sign-in certificate of {organization} ends soon',
    'sso.mail.certificate.text':
      'The last signing certificate of the connection “{connection}” ends on {date}. Then users of your company cannot sign in with it.',
    'sso.mail.certificate.next':
      'Make the next certificate at your identity provider, and add it to the connection beside the present one.',
    'sso.mail.certificate.why': 'You get this mail as an owner or as the contact of the connection.',
    'sso.title': 'Company sign-in',
    'sso.lead': 'Sign in with the account of your organization.',
    'sso.required': 'Your organization requires its own sign-in. Continue there with your work account.',
    'sso.continue': 'Continue with {name}',
    'sso.other': 'Use another account',
    'error.SsoInput': 'This value cannot be taken. Check what you entered.',
    'error.NoSuchConnection': 'This company sign-in is not available. Ask your administrator for a new link.',
    'error.SsoRefused': 'Your company’s sign-in did not work for this account. Ask your administrator.',
    'error.SsoRequired': 'Your organization requires its own sign-in. Enter your work email to continue.',
    'error.SsoStepUp': 'Prove again who you are, then try again.',
  },
  de: {
    'sso.mail.certificate.subject': 'Das Anmeldezertifikat von {organization} läuft bald ab',
    'sso.mail.certificate.text':
      'Das letzte Signaturzertifikat der Verbindung „{connection}“ läuft am {date} ab. Danach können sich Benutzer Ihrer Firma nicht mehr damit anmelden.',
    'sso.mail.certificate.next':
      'Erstellen Sie das nächste Zertifikat bei Ihrem Identitätsanbieter und fügen Sie es der Verbindung neben dem jetzigen hinzu.',
    'sso.mail.certificate.why': 'Sie erhalten diese E-Mail als Inhaber oder als Kontakt der Verbindung.',
    'sso.title': 'Firmenanmeldung',
    'sso.lead': 'Melden Sie sich mit dem Konto Ihrer Organisation an.',
    'sso.required': 'Ihre Organisation verlangt ihre eigene Anmeldung. Fahren Sie dort mit Ihrem Arbeitskonto fort.',
    'sso.continue': 'Weiter mit {name}',
    'sso.other': 'Anderes Konto verwenden',
    'error.SsoInput': 'Dieser Wert ist nicht möglich. Prüfen Sie Ihre Eingabe.',
    'error.NoSuchConnection': 'Diese Firmenanmeldung ist nicht verfügbar. Bitten Sie Ihre Administration um einen neuen Link.',
    'error.SsoRefused': 'Die Anmeldung Ihrer Firma hat für dieses Konto nicht funktioniert. Wenden Sie sich an Ihre Administration.',
    'error.SsoRequired': 'Ihre Organisation verlangt ihre eigene Anmeldung. Geben Sie Ihre Arbeitsadresse ein, um fortzufahren.',
    'error.SsoStepUp': 'Bestätigen Sie noch einmal, wer Sie sind, und versuchen Sie es dann erneut.',
  },
  es: {
    'sso.mail.certificate.subject': 'El certificado de acceso de {organization} termina pronto',
    'sso.mail.certificate.text':
      'El último certificado de firma de la conexión «{connection}» termina el {date}. Después, los usuarios de su empresa no podrán entrar con ella.',
    'sso.mail.certificate.next': 'Cree el certificado siguiente en su proveedor de identidad y añádalo a la conexión junto al actual.',
    'sso.mail.certificate.why': 'Recibe este correo como propietario o como contacto de la conexión.',
    'sso.title': 'Acceso de empresa',
    'sso.lead': 'Inicie sesión con la cuenta de su organización.',
    'sso.required': 'Su organización exige su propio acceso. Continúe allí con su cuenta de trabajo.',
    'sso.continue': 'Continuar con {name}',
    'sso.other': 'Usar otra cuenta',
    'error.SsoInput': 'Este valor no se puede aceptar. Compruebe lo que ha introducido.',
    'error.NoSuchConnection': 'Este acceso de empresa no está disponible. Pida un enlace nuevo a su administrador.',
    'error.SsoRefused': 'El acceso de su empresa no ha funcionado con esta cuenta. Consulte a su administrador.',
    'error.SsoRequired': 'Su organización exige su propio acceso. Introduzca su correo de trabajo para continuar.',
    'error.SsoStepUp': 'Confirme de nuevo quién es e inténtelo otra vez.',
  },
  fr: {
    'sso.mail.certificate.subject': 'Le certificat de connexion de {organization} expire bientôt',
    'sso.mail.certificate.text':
      'Le dernier certificat de signature de la connexion « {connection} » expire le {date}. Ensuite, les utilisateurs de votre entreprise ne pourront plus se connecter avec elle.',
    'sso.mail.certificate.next':
      'Créez le certificat suivant chez votre fournisseur d’identité et ajoutez-le à la connexion à côté de l’actuel.',
    'sso.mail.certificate.why': 'Vous recevez cet e-mail en tant que propriétaire ou contact de la connexion.',
    'sso.title': 'Connexion d’entreprise',
    'sso.lead': 'Connectez-vous avec le compte de votre organisation.',
    'sso.required': 'Votre organisation exige sa propre connexion. Continuez-y avec votre compte professionnel.',
    'sso.continue': 'Continuer avec {name}',
    'sso.other': 'Utiliser un autre compte',
    'error.SsoInput': 'Cette valeur ne peut pas être acceptée. Vérifiez votre saisie.',
    'error.NoSuchConnection': 'Cette connexion d’entreprise n’est pas disponible. Demandez un nouveau lien à votre administrateur.',
    'error.SsoRefused': 'La connexion de votre entreprise n’a pas fonctionné avec ce compte. Adressez-vous à votre administrateur.',
    'error.SsoRequired': 'Votre organisation exige sa propre connexion. Saisissez votre adresse professionnelle pour continuer.',
    'error.SsoStepUp': 'Confirmez de nouveau votre identité, puis réessayez.',
  },
  ja: {
    'sso.mail.certificate.subject': '{organization} のサインイン証明書がまもなく期限切れになります',
    'sso.mail.certificate.text':
      '接続「{connection}」の最後の署名証明書は {date} に期限切れになります。その後、会社のユーザーはサインインできません。',
    'sso.mail.certificate.next': 'ID プロバイダーで次の証明書を作成し、現在の証明書と並べて接続に追加してください。',
    'sso.mail.certificate.why': 'オーナーまたは接続の連絡先として、このメールをお送りしています。',
    'sso.title': '会社のサインイン',
    'sso.lead': '所属する組織のアカウントでサインインしてください。',
    'sso.required': '所属する組織は専用のサインインを必須にしています。仕事用アカウントで続けてください。',
    'sso.continue': '{name} で続ける',
    'sso.other': '別のアカウントを使う',
    'error.SsoInput': 'この値は使えません。入力内容を確認してください。',
    'error.NoSuchConnection': 'この会社のサインインは利用できません。管理者に新しいリンクを依頼してください。',
    'error.SsoRefused': 'このアカウントでは会社のサインインができませんでした。管理者に問い合わせてください。',
    'error.SsoRequired': '所属する組織は専用のサインインを必須にしています。仕事用のメールアドレスを入力してください。',
    'error.SsoStepUp': 'もう一度本人確認をしてから、やり直してください。',
  },
}
