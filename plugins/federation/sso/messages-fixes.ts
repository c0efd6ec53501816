/** What to fix, for the administrators of an identity provider: texts of `FailureCause`. */
import type { Messages } from 'authkernel/kernel'

export const fixMessages: Messages = {
  en: {
    'sso.fix.replyUrl': 'At your identity provider, set the reply address (ACS URL, redirect URI) to the value of the setup portal.',
    'sso.fix.assignment': 'Assign the user, or a group of the user, to the application at your identity provider.',
    'sso.fix.entityId':
      'The identity provider does not know this app. Check entity ID or client ID there, and that it is the right tenant.',
    'sso.fix.secretExpired': 'The client secret has expired. Make a new one and enter it here.',
    'sso.fix.secretWrong': 'Client ID or client secret is wrong. Copy the value of the secret, not its ID.',
    'sso.fix.consent': 'An administrator of your identity provider must grant consent to the application.',
    'sso.fix.denied': 'The sign-in was cancelled or denied at the identity provider.',
    'sso.fix.context': 'The identity provider cannot sign in the way that was asked for. Remove the demand, or allow this method there.',
    'sso.fix.nameId': 'The format of the NameID does not fit. Choose “persistent” or “email” at your identity provider.',
    'sso.fix.login': 'The identity provider wanted to ask the user, and was not allowed to. Sign in again.',
    'sso.fix.proof':
      'The user could not prove who they are at the identity provider: a wrong password, a missing second factor, or a cancelled prompt.',
    'sso.fix.unknownUser': 'The identity provider has no such user. Sign in with the account of the company, or invite the user there.',
    'sso.fix.blocked':
      'A rule of your identity provider blocks the user or the device. Look into its sign-in log (conditional access, locked accounts).',
    'sso.fix.scope':
      'The identity provider does not give what was asked for. Allow the scopes openid, profile and email for the application.',
    'sso.fix.failing': 'The identity provider failed. Try again, and look into its log at the time of the sign-in.',
    'sso.fix.refused':
      'The identity provider rejects our request. Compare entity ID, ACS URL (HTTP-POST) and redirect URI there with the values of the setup portal.',
    'sso.fix.signature': 'The signature fits none of the certificates. Read the metadata again, or add the current certificate.',
    'sso.fix.audience': 'At your identity provider, set the entity ID (audience) to the value of the setup portal.',
    'sso.fix.recipient': 'At your identity provider, set the ACS URL (recipient) to the value of the setup portal.',
    'sso.fix.destination': 'At your identity provider, set the ACS URL (destination) to the value of the setup portal.',
    'sso.fix.issuer': 'The answer is of another identity provider. Check the issuer, and read the metadata of the right application.',
    'sso.fix.time': 'The answer is too old or from the future. Set the clock of the identity provider, and sign in again.',
    'sso.fix.request': 'The answer belongs to no sign-in of this browser. Begin here, finish in the same browser, within 15 minutes.',
    'sso.fix.replay': 'This answer was used before. Sign in again.',
    'sso.fix.encryption': 'The assertion could not be decrypted. Switch encryption off, or use the certificate of our metadata.',
    'sso.fix.algorithm': 'The algorithm of the signature is not accepted. Choose RSA with SHA-256.',
    'sso.fix.subject': 'The answer does not name the user for good. Send a persistent NameID, or name an attribute.',
    'sso.fix.email': 'No email arrived. Send the attribute, or enter its name in step 3.',
    'sso.fix.domain': 'The domain of the email is not verified for this organization. Verify it first.',
    'sso.fix.discovery':
      'The issuer does not answer with its discovery document. Compare the issuer, letter by letter, with the one that your identity provider shows.',
    'sso.fix.metadata':
      'The metadata address does not answer with the metadata of your identity provider. Check the address, or upload the file.',
  },
  de: {
    'sso.fix.replyUrl':
      'Setzen Sie beim Identitätsanbieter die Antwortadresse (ACS-URL, Redirect-URI) auf den Wert des Einrichtungsportals.',
    'sso.fix.assignment': 'Weisen Sie den Benutzer oder eine seiner Gruppen beim Identitätsanbieter der Anwendung zu.',
    'sso.fix.entityId':
      'Der Identitätsanbieter kennt diese App nicht. Prüfen Sie dort Entity-ID oder Client-ID und ob es der richtige Mandant ist.',
    'sso.fix.secretExpired': 'Das Client-Secret ist abgelaufen. Erstellen Sie ein neues und tragen Sie es hier ein.',
    'sso.fix.secretWrong': 'Client-ID oder Client-Secret ist falsch. Kopieren Sie den Wert des Secrets, nicht seine ID.',
    'sso.fix.consent': 'Eine Administratorin oder ein Administrator des Identitätsanbieters muss der Anwendung zustimmen.',
    'sso.fix.denied': 'Die Anmeldung wurde beim Identitätsanbieter abgebrochen oder verweigert.',
    'sso.fix.context':
      'Der Identitätsanbieter kann nicht auf die verlangte Weise anmelden. Entfernen Sie die Vorgabe oder erlauben Sie diese Methode dort.',
    'sso.fix.nameId': 'Das Format der NameID passt nicht. Wählen Sie beim Identitätsanbieter „persistent“ oder „email“.',
    'sso.fix.login': 'Der Identitätsanbieter wollte nachfragen und durfte nicht. Melden Sie sich erneut an.',
    'sso.fix.proof':
      'Der Benutzer konnte sich beim Identitätsanbieter nicht ausweisen: falsches Passwort, fehlender zweiter Faktor oder Abbruch.',
    'sso.fix.unknownUser':
      'Der Identitätsanbieter kennt diesen Benutzer nicht. Melden Sie sich mit dem Konto des Unternehmens an oder laden Sie den Benutzer dort ein.',
    'sso.fix.blocked':
      'Eine Regel des Identitätsanbieters sperrt Benutzer oder Gerät. Sehen Sie in dessen Anmeldeprotokoll nach (bedingter Zugriff, gesperrte Konten).',
    'sso.fix.scope': 'Der Identitätsanbieter gibt das Verlangte nicht. Erlauben Sie der Anwendung die Scopes openid, profile und email.',
    'sso.fix.failing':
      'Beim Identitätsanbieter ist ein Fehler aufgetreten. Versuchen Sie es erneut und sehen Sie in dessen Protokoll zur Zeit der Anmeldung nach.',
    'sso.fix.refused':
      'Der Identitätsanbieter weist unsere Anfrage ab. Vergleichen Sie dort Entity-ID, ACS-URL (HTTP-POST) und Redirect-URI mit den Werten des Einrichtungsportals.',
    'sso.fix.signature':
      'Die Signatur passt zu keinem Zertifikat. Lesen Sie die Metadaten neu oder fügen Sie das aktuelle Zertifikat hinzu.',
    'sso.fix.audience': 'Setzen Sie beim Identitätsanbieter die Entity-ID (Audience) auf den Wert des Einrichtungsportals.',
    'sso.fix.recipient': 'Setzen Sie beim Identitätsanbieter die ACS-URL (Recipient) auf den Wert des Einrichtungsportals.',
    'sso.fix.destination': 'Setzen Sie beim Identitätsanbieter die ACS-URL (Destination) auf den Wert des Einrichtungsportals.',
    'sso.fix.issuer':
      'Die Antwort kommt von einem anderen Identitätsanbieter. Prüfen Sie den Aussteller und lesen Sie die Metadaten der richtigen Anwendung.',
    'sso.fix.time':
      'Die Antwort ist zu alt oder liegt in der Zukunft. Stellen Sie die Uhr des Identitätsanbieters und melden Sie sich erneut an.',
    'sso.fix.request':
      'Die Antwort gehört zu keiner Anmeldung dieses Browsers. Beginnen Sie hier und beenden Sie im selben Browser, innerhalb von 15 Minuten.',
    'sso.fix.replay': 'Diese Antwort wurde schon verwendet. Melden Sie sich erneut an.',
    'sso.fix.encryption':
      'Die Assertion ließ sich nicht entschlüsseln. Schalten Sie die Verschlüsselung aus oder verwenden Sie das Zertifikat unserer Metadaten.',
    'sso.fix.algorithm': 'Der Algorithmus der Signatur wird nicht angenommen. Wählen Sie RSA mit SHA-256.',
    'sso.fix.subject':
      'Die Antwort bezeichnet den Benutzer nicht dauerhaft. Senden Sie eine persistente NameID oder nennen Sie ein Attribut.',
    'sso.fix.email': 'Es kam keine E-Mail an. Senden Sie das Attribut oder tragen Sie seinen Namen in Schritt 3 ein.',
    'sso.fix.domain': 'Die Domain der E-Mail ist für diese Organisation nicht bestätigt. Bestätigen Sie sie zuerst.',
    'sso.fix.discovery':
      'Unter dem Aussteller ist kein Discovery-Dokument zu finden. Vergleichen Sie ihn Zeichen für Zeichen mit dem, den Ihr Identitätsanbieter zeigt.',
    'sso.fix.metadata':
      'Unter der Metadatenadresse sind die Metadaten Ihres Identitätsanbieters nicht zu finden. Prüfen Sie die Adresse, oder laden Sie die Datei hoch.',
  },
  es: {
    'sso.fix.replyUrl':
      'En su proveedor de identidad, ponga como dirección de respuesta (URL de ACS, URI de redirección) el valor del portal.',
    'sso.fix.assignment': 'Asigne el usuario, o uno de sus grupos, a la aplicación en su proveedor de identidad.',
    'sso.fix.entityId':
      'El proveedor de identidad no conoce esta aplicación. Compruebe allí el ID de entidad o de cliente y que sea el inquilino correcto.',
    'sso.fix.secretExpired': 'El secreto de cliente ha caducado. Cree uno nuevo e introdúzcalo aquí.',
    'sso.fix.secretWrong': 'El ID o el secreto de cliente es incorrecto. Copie el valor del secreto, no su ID.',
    'sso.fix.consent': 'Un administrador del proveedor de identidad debe dar su consentimiento a la aplicación.',
    'sso.fix.denied': 'El acceso se canceló o se rechazó en el proveedor de identidad.',
    'sso.fix.context': 'El proveedor de identidad no puede autenticar de la forma pedida. Quite la exigencia o permita ese método allí.',
    'sso.fix.nameId': 'El formato del NameID no encaja. Elija «persistent» o «email» en su proveedor de identidad.',
    'sso.fix.login': 'El proveedor de identidad quería preguntar al usuario y no podía. Vuelva a iniciar sesión.',
    'sso.fix.proof':
      'El usuario no pudo demostrar su identidad en el proveedor: contraseña incorrecta, falta el segundo factor o cancelación.',
    'sso.fix.unknownUser': 'El proveedor de identidad no tiene ese usuario. Entre con la cuenta de la empresa o invite al usuario allí.',
    'sso.fix.blocked':
      'Una regla del proveedor de identidad bloquea al usuario o el dispositivo. Consulte su registro de accesos (acceso condicional, cuentas bloqueadas).',
    'sso.fix.scope': 'El proveedor de identidad no concede lo pedido. Permita a la aplicación los ámbitos openid, profile y email.',
    'sso.fix.failing': 'El proveedor de identidad falló. Inténtelo de nuevo y consulte su registro a la hora del acceso.',
    'sso.fix.refused':
      'El proveedor de identidad rechaza nuestra petición. Compare allí el ID de entidad, la URL de ACS (HTTP-POST) y la URI de redirección con los valores del portal.',
    'sso.fix.signature': 'La firma no corresponde a ningún certificado. Lea de nuevo los metadatos o añada el certificado actual.',
    'sso.fix.audience': 'En su proveedor de identidad, ponga como ID de entidad (audiencia) el valor del portal.',
    'sso.fix.recipient': 'En su proveedor de identidad, ponga como URL de ACS (destinatario) el valor del portal.',
    'sso.fix.destination': 'En su proveedor de identidad, ponga como URL de ACS (destino) el valor del portal.',
    'sso.fix.issuer': 'La respuesta es de otro proveedor de identidad. Compruebe el emisor y lea los metadatos de la aplicación correcta.',
    'sso.fix.time': 'La respuesta es demasiado antigua o del futuro. Ajuste el reloj del proveedor de identidad y vuelva a entrar.',
    'sso.fix.request':
      'La respuesta no pertenece a ningún acceso de este navegador. Empiece aquí y termine en el mismo navegador, en 15 minutos.',
    'sso.fix.replay': 'Esta respuesta ya se usó. Vuelva a iniciar sesión.',
    'sso.fix.encryption': 'No se pudo descifrar la aserción. Desactive el cifrado o use el certificado de nuestros metadatos.',
    'sso.fix.algorithm': 'El algoritmo de la firma no se acepta. Elija RSA con SHA-256.',
    'sso.fix.subject': 'La respuesta no identifica al usuario de forma permanente. Envíe un NameID persistente o indique un atributo.',
    'sso.fix.email': 'No llegó ningún correo. Envíe el atributo o escriba su nombre en el paso 3.',
    'sso.fix.domain': 'El dominio del correo no está verificado para esta organización. Verifíquelo primero.',
    'sso.fix.discovery':
      'El emisor no responde con su documento de descubrimiento. Compárelo, letra por letra, con el que muestra su proveedor de identidad.',
    'sso.fix.metadata':
      'La dirección de los metadatos no responde con los de su proveedor de identidad. Compruebe la dirección o suba el archivo.',
  },
  fr: {
    'sso.fix.replyUrl':
      'Chez votre fournisseur d’identité, mettez comme adresse de réponse (URL ACS, URI de redirection) la valeur du portail.',
    'sso.fix.assignment': 'Affectez l’utilisateur, ou l’un de ses groupes, à l’application chez votre fournisseur d’identité.',
    'sso.fix.entityId': 'Le fournisseur d’identité ne connaît pas cette application. Vérifiez-y l’ID d’entité ou client, et le locataire.',
    'sso.fix.secretExpired': 'Le secret client a expiré. Créez-en un nouveau et saisissez-le ici.',
    'sso.fix.secretWrong': 'L’ID ou le secret client est faux. Copiez la valeur du secret, pas son identifiant.',
    'sso.fix.consent': 'Un administrateur du fournisseur d’identité doit donner son consentement à l’application.',
    'sso.fix.denied': 'La connexion a été annulée ou refusée chez le fournisseur d’identité.',
    'sso.fix.context':
      'Le fournisseur d’identité ne peut pas authentifier de la manière demandée. Retirez l’exigence ou autorisez-y cette méthode.',
    'sso.fix.nameId': 'Le format du NameID ne convient pas. Choisissez « persistent » ou « email » chez votre fournisseur.',
    'sso.fix.login': 'Le fournisseur d’identité voulait interroger l’utilisateur et ne le pouvait pas. Reconnectez-vous.',
    'sso.fix.proof':
      'L’utilisateur n’a pas pu prouver son identité chez le fournisseur : mot de passe faux, second facteur manquant ou annulation.',
    'sso.fix.unknownUser':
      'Le fournisseur d’identité n’a pas cet utilisateur. Connectez-vous avec le compte de l’entreprise ou invitez-y l’utilisateur.',
    'sso.fix.blocked':
      'Une règle du fournisseur d’identité bloque l’utilisateur ou l’appareil. Consultez son journal de connexion (accès conditionnel, comptes bloqués).',
    'sso.fix.scope':
      'Le fournisseur d’identité ne donne pas ce qui est demandé. Autorisez à l’application les portées openid, profile et email.',
    'sso.fix.failing': 'Le fournisseur d’identité a échoué. Réessayez et consultez son journal à l’heure de la connexion.',
    'sso.fix.refused':
      'Le fournisseur d’identité refuse notre requête. Comparez-y l’ID d’entité, l’URL ACS (HTTP-POST) et l’URI de redirection avec les valeurs du portail.',
    'sso.fix.signature': 'La signature ne correspond à aucun certificat. Relisez les métadonnées ou ajoutez le certificat actuel.',
    'sso.fix.audience': 'Chez votre fournisseur d’identité, mettez comme ID d’entité (audience) la valeur du portail.',
    'sso.fix.recipient': 'Chez votre fournisseur d’identité, mettez comme URL ACS (destinataire) la valeur du portail.',
    'sso.fix.destination': 'Chez votre fournisseur d’identité, mettez comme URL ACS (destination) la valeur du portail.',
    'sso.fix.issuer':
      'La réponse vient d’un autre fournisseur d’identité. Vérifiez l’émetteur et lisez les métadonnées de la bonne application.',
    'sso.fix.time': 'La réponse est trop ancienne ou datée du futur. Réglez l’horloge du fournisseur d’identité et reconnectez-vous.',
    'sso.fix.request':
      'La réponse n’appartient à aucune connexion de ce navigateur. Commencez ici et terminez dans le même navigateur, en 15 minutes.',
    'sso.fix.replay': 'Cette réponse a déjà été utilisée. Reconnectez-vous.',
    'sso.fix.encryption': 'L’assertion n’a pas pu être déchiffrée. Désactivez le chiffrement ou utilisez le certificat de nos métadonnées.',
    'sso.fix.algorithm': 'L’algorithme de la signature n’est pas accepté. Choisissez RSA avec SHA-256.',
    'sso.fix.subject': 'La réponse n’identifie pas durablement l’utilisateur. Envoyez un NameID persistant ou indiquez un attribut.',
    'sso.fix.email': 'Aucun e-mail n’est arrivé. Envoyez l’attribut ou saisissez son nom à l’étape 3.',
    'sso.fix.domain': 'Le domaine de l’e-mail n’est pas vérifié pour cette organisation. Vérifiez-le d’abord.',
    'sso.fix.discovery':
      'L’émetteur ne fournit pas de document de découverte. Comparez-le, lettre par lettre, à celui qu’affiche votre fournisseur d’identité.',
    'sso.fix.metadata':
      'L’adresse des métadonnées ne fournit pas celles de votre fournisseur d’identité. Vérifiez l’adresse, ou téléversez le fichier.',
  },
  ja: {
    'sso.fix.replyUrl': 'ID プロバイダーの応答先(ACS URL、リダイレクト URI)を設定ポータルの値にしてください。',
    'sso.fix.assignment': 'ID プロバイダーで、ユーザーまたはそのグループをアプリケーションに割り当ててください。',
    'sso.fix.entityId': 'ID プロバイダーがこのアプリを認識していません。エンティティ ID かクライアント ID、テナントを確認してください。',
    'sso.fix.secretExpired': 'クライアントシークレットの期限が切れています。新しく作成して入力してください。',
    'sso.fix.secretWrong': 'クライアント ID かシークレットが間違っています。シークレットの ID ではなく値をコピーしてください。',
    'sso.fix.consent': 'ID プロバイダーの管理者がアプリケーションに同意する必要があります。',
    'sso.fix.denied': 'ID プロバイダーでサインインが中止または拒否されました。',
    'sso.fix.context': '要求された方法ではサインインできません。要求を外すか、その方法を許可してください。',
    'sso.fix.nameId': 'NameID の形式が合いません。ID プロバイダーで「persistent」か「email」を選んでください。',
    'sso.fix.login': 'ID プロバイダーがユーザーへの確認を必要としています。もう一度サインインしてください。',
    'sso.fix.proof': 'ID プロバイダーで本人確認ができませんでした。パスワードの誤り、第 2 要素の不足、または中止が考えられます。',
    'sso.fix.unknownUser':
      'ID プロバイダーにこのユーザーがいません。会社のアカウントでサインインするか、そこにユーザーを招待してください。',
    'sso.fix.blocked':
      'ID プロバイダーの規則がユーザーまたはデバイスを拒否しています。サインインのログ(条件付きアクセス、ロックされたアカウント)を確認してください。',
    'sso.fix.scope': 'ID プロバイダーが要求された内容を渡しません。アプリケーションにスコープ openid、profile、email を許可してください。',
    'sso.fix.failing': 'ID プロバイダーでエラーが起きました。もう一度試し、サインインの時刻のログを確認してください。',
    'sso.fix.refused':
      'ID プロバイダーが要求を拒否しました。エンティティ ID、ACS URL(HTTP-POST)、リダイレクト URI を設定ポータルの値と比べてください。',
    'sso.fix.signature': '署名がどの証明書とも一致しません。メタデータを読み直すか、現在の証明書を追加してください。',
    'sso.fix.audience': 'ID プロバイダーのエンティティ ID(オーディエンス)を設定ポータルの値にしてください。',
    'sso.fix.recipient': 'ID プロバイダーの ACS URL(受信先)を設定ポータルの値にしてください。',
    'sso.fix.destination': 'ID プロバイダーの ACS URL(宛先)を設定ポータルの値にしてください。',
    'sso.fix.issuer': '別の ID プロバイダーからの応答です。発行者を確認し、正しいアプリケーションのメタデータを読み込んでください。',
    'sso.fix.time': '応答が古すぎるか、未来の時刻です。ID プロバイダーの時計を合わせて、もう一度サインインしてください。',
    'sso.fix.request': 'このブラウザーのサインインに対応しない応答です。ここから始め、同じブラウザーで 15 分以内に完了してください。',
    'sso.fix.replay': 'この応答は使用済みです。もう一度サインインしてください。',
    'sso.fix.encryption': 'アサーションを復号できませんでした。暗号化を無効にするか、こちらのメタデータの証明書を使ってください。',
    'sso.fix.algorithm': '署名のアルゴリズムは使えません。SHA-256 の RSA を選んでください。',
    'sso.fix.subject': '応答にユーザーの永続的な識別子がありません。persistent の NameID を送るか、属性を指定してください。',
    'sso.fix.email': 'メールアドレスが届いていません。属性を送るか、手順 3 で名前を入力してください。',
    'sso.fix.domain': 'メールのドメインがこの組織で確認されていません。先に確認してください。',
    'sso.fix.discovery': '発行者からディスカバリー文書を取得できません。ID プロバイダーに表示される発行者と一字ずつ比べてください。',
    'sso.fix.metadata':
      'メタデータのアドレスから ID プロバイダーのメタデータを取得できません。アドレスを確認するか、ファイルをアップロードしてください。',
  },
}
