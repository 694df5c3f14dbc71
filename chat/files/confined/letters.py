"""Letters that tell languages in `legacy_encoding.py`, counted in lists of words; the most frequent first."""

# Pairs of letters, at least one of them outside ASCII; "_" stands for what is no letter.
PAIRS = {
    "en": "é_récéfésééméetéétéhéméánléké_éñoçaaçeñaélé_péuégéañ_èèrébéaéiañünaïïv_ôôtäröhüböbïdoïoölö_",
    "de": (
        "ürfüüb_üänrüönäthäläoßßeußaßeßß_ähühköhöärüctäünräwäöröstüüsäumüwüäcäläsißüßßtößßrßsßlßzßbmöfä"
        "mänärölüög_äütäg_ökülöbüsäpäöföhüghüölöcülädäfämötnüdütösüzägäkäüdvöbäjägüwözünöüfsöföböödüm"
    ),
    "fr": (
        "à_é__à_érétédéétéeérésécnéèrêtséçaèsrèièmélé_çépégpéél_êédénêmgémêévémiévéhéuécééféaférêèmôtlè"
        "lànçù_oùébaîéqbééjéoîtètmèçojàtèpècèècègdèèntôrôcôœuôlâthèèvûtoûâctêyééuaçînèlûrhôgèsû_âçueçrâ"
        "_œpêêcaïâgômrçnèuêxécœèdêvéhbâpô"
    ),
    "es": (
        "ióóníaásó_máañríñoá_ráí_táé_ánénñauédíiééssílíúneñíscótítóít_éómró_úíccíaíbíólínsóérmérétéuígú"
        "nívílómízónóélpúúbúl_ácáácláiñdófíséíoárátgíálídmóhílénúéxú_écúsmúágtúpádéórúmgóámétaúvéuáeíóg"
        "ímfánápójócéédñeífáfósnéábeóápzáíródóvútígóxpísábéiáuñ_óépgéjépédábáíbñíbóópgüéiyórúoñéffévóúa"
        "súfú"
    ),
    "pt": (
        "ãoé__énãçãaçá_çasãõeémê_cêárnçrátá_àtãçõêniçà_téçoeçbéjáórsóó_érêstóícaílímã_áósídívísláróítuç"
        "_úuéânhárírêméásínrçséáviãlérãsípótívínómíéstêágsáúbã_púêmvámáúsréuíátédúlàsãeópnáníhãílnúdáí_"
        "éccífíúnôndêmúúmiêuêvéáliápéácétlê_ógêoçvãúdólâmóxlócâsõtâdãpáhõódfáfévêípírômcóógócábótaúmóáf"
        "cácéímdéíanéuá_ígómêdúpçdíífcçnôéiápíoádpíiõrâélépeúóiégéulâgélãéndóô_íbrôoãpãónbáeãzãtõúvgãíg"
        "lôfóxémôeíúcáxóvgácã"
    ),
    "it": "è__èà_tàù_iùò_ì_é_héràsìuòròiàiòhèdìlìoèné_élàsétòdà",
    "sv": (
        "är_äå_örföpåänsåårälånväläråågnääträsähä_ågåfånåtäjä_öägövmååtgödåvåhöäsdäålkälåmäävämtåröåskö"
        "håsöökbälöäködådböösöttömöönöpögåkdögäädölöjfäöm"
    ),
    "da": (
        "å_påsåørærårvæføænmårælæ_åødælfåådæskøsøgånå_øtæsægørøøbøjølækhøløøgtøønægnæættååebøåldøøvmæhå"
        "jæråkæåbfæånåsøs_æmøædlåhæævnøbåpøømpægæøkæm_éjøø_dåæbénæf"
    ),
    "fi": "ä_täääänläväsäkänämääiätälhäpäyöjääsämäyähäräköstöiädäävräönö_lökö_äöieäöyötäjyäökiöäpöl",
    "nl": (
        "iëénë__éééënëleëé_ïneïëraïaëèrièhéeéè_véhèféëikéëeélïstéréoöséöroëïeünèndéuïérétoïcèïdnémüléés"
        "écméwéëzïtëtëxêtübém_üeüuêürpéèvnèéegérèëvïmïrcéülrööpönüszégüèmï_ïbébéoühèlfübéédètölüm_è"
    ),
    "is": (
        "ð__þí__íaðá__áiððiðaþeeðþaðurðrájóvíérár_ú_éégærjáálísætíksíséölórú_líátjöúnínöröghúæðuðvæmáþv"
        "útíðól_öríþánúóttíáðúrtöönrætóóðéthétæélónðslöímásbæféé_ækréóköðþúnáðröfhæþóúsþrhöfðánæmrórúfó"
        "gðvöbúnýæg_ó_æó_hánæfæsöþilædófákóítláméökmösæjúúaþjmíýsáksóáhðlífsáænósýræslýómgæmæsýoðópáfþæ"
        "ælýníuröbóhómógöílúiýjðeðnþéðjdæsúágúlðfló_ýýmböníléðvðhámömföékötóflþtúðbábnógóþyýtköþoþuúkþý"
        "ö_bíýðbáðgæfóvpáðmáikíyðúmkávé"
    ),
    "nb": (
        "å__åpåørårsåærjøfønåvæmåfågå_ørøøyhøåtøksøønøltøløødvåtåøtåpådøpøvøsråålåndømøbølåhålænæbånøpø"
        "ømjæåkdåø_åsåesæ"
    ),
    "ca": (
        "ésó_ió_éméà_é_ò_ràí_ènròè_uèbéçaóntàsónçlíréxòísàcàrtímàítòrtétòrèlàànmíès_útèríaçícpúúbxírçín"
        "úsàsç_uí_àú_èrmócàlèdèsílòüeàtílvíaíuïgúiàècgüòmmèósúlnèièònúncémúídàl_èaïvégèqünòsèïtçoèiàmím"
        "nàfícímòètàguénúfàògpèdócèàfpàlónóèxdàòldíòpeïífséòsïscòíeàpïndéróbàníéuénsàócèdléúmxèèmègíaaó"
        "òbnéiçüèlçcóàxtóèpuàïd_íjàrúàdçópòàb_òéiórvèdòsòíofòàvbèeçèlvàòxfètúèfígpídúút"
    ),
    "pl": (
        "ę_ięć_ą_ałżeła_żówłoł_ośjąśctóż_óraćyłś_iąącróożłyeśędżyażłe_śużiłęceżzązęjęsłłuślśćićądbęołyć"
        "głnąsązłmóżnękśwwłńskóańiśyśżatęń_dłpóeńśnkłśmętńcaśóbećółwókąsóójgódęręońpłiżól_łżoląątnęódśr"
        "żdępełkęłóązłąóżdąlęęśłnócwącótąłkrąążągkżułężźncągędźwęyżęscęnómęhęiódóąćżkjśgąęzbąź_żsbóżlęł"
        "ąłeźmłłbtłęgóźłężąębógaź_źęćbłhłótpęuś"
    ),
    "cs": (
        "í_níě_é_něá_řepřženáý_rá_žímž__čměvěvářítěnéícčejíkéděřivýělánálámšíů_vínýšemátíátávýcvéužěttř"
        "lákáádčncízákýítéhdáožmítáásdíživšíkečémči_šažýmlí_ú_řštočějěkačěnléešíssíácčatéčírérýběázmůež"
        "šiičš_yžílárhážíákíhašěsěcořžnůžrůpějáínzíždškčkušbíč_býtýívdůišídučášědpávůeřpůméízírlýářlšpí"
        "šližýtkůčtjšřáůsěžěrčáěmážařéníšď_ůmápůlčlošsáyštššadéěhřař_iášnáhžáížěřtůň_ůjnčérť_břeďývíppš"
        "ržůvězdýíbúsétdřýrnůíčájrčhéáčbáýslůeňúčkžvžžuábžkšpmýýšířžocůíjůzzřůbvřěvvčžsyřčohýýděšrškřža"
        "nžkčýzúpýkzůřshůýbšťútékaťiíýhhřmžšubčžbuáššoňčuiéňuúřsůédšočrňoyčnšóneádš"
    ),
    "hu": (
        "_éésárálánégérénásó_mátáláköáttéülélő_kémézáváétráág_ázésénéjávétöítábléözépékönlőörsá_útóháól"
        "tőjóévlónáötámrézögéká_öróákös_íőlbágárüküősdézóövsőázújdőzüígölézdáírzőzíöbű_páünőt_őívökműéb"
        "úgféióükrőé_nőőkpéúlájjöú_á_émnöiáyáád_üótóbóryélöín_óósácőrhékírötüédsíóddöókbódóiéávfőőbútlí"
        "ügrűlüjémúhíüttítúmíyüéhgíbődíímfösóődőzízvőtűömgómócíónsüpícébésúópyöógpüűnödőisöóvűvvíyíbíkó"
        "űkrúyűfüőejüögózéjővüzuáíjójgöjúápfáyőőnvüzúhóőjúrgünüböúsűsyóíliúhúgőáu"
    ),
    "sk": (
        "ť_é_ý_á_nážerá_čí__žnénýú_ýcvýaťčažičieľž_očávrí_šužvášiníšeýmsťčomákýámsúčnácštéhiťtázáažálvš"
        "átjúímrýľa_úláárožkéáskáačréádtýčeánečežď_tímôešeďnúďaašťadášíičícôžšaľkísvéždíktúčížn_ľívľuhá"
        "kúínoľémdíúčtéázň_líškákeň_ďsípáúcútväléľmítpôňaúpš_úsvížíyťeťášľ_úrdľč_érlýiáľočliščkyšdôôslš"
        "ónzídúšljščšäčrúrčhľpšápúdpíošírájnčážťošpšnýsuššodýlúaľučhýúťnšmäžaývňoróáčižľnjíkôôrýrípôlžk"
        "míízôvcíúzbíóppäuáíláhórábiížuätvďvôýbýšbátóýkvžžsržžoíd_ťdňäťrôňuä_čuhéôzkžršúžššúkýzénúlôbsá"
        "šťlóšuúšióôjún_ňúbbýýžíšúvdéáľľsmňčtcúnžódgóoňvúýtížuďžbžšäzôcétuťógcéľúzóvčľvýliégázťdĺcťĺžbč"
        "yčdšíbíjaňeáíť_ášhséaďmúíčméýnkóoďfó"
    ),
    "sl": (
        "če_š_ččiočšeča_žečžeiččnišžiačašč_škštšiščžajšežožšaošužučeščjšnžnržčučlš_ušbčšončažižšlkšršžb"
        "čkčržjž_špvčžkčožušjvš"
    ),
    "ro": (
        "ă__îînşi_şţicăsătăânrăaţărştnţnăpălăătcâeşmămâaşiţţaâtţăzăvăeţţetâăsgăcţăţămfăăcbăşa_ţdăişuţîm"
        "pâuşăuşeoţuărţârălrâăzvâăilţş_ţuoşşoădănîiăpşcşuîlâm"
    ),
    "tr": (
        "ı_ınrınılı_çsıdıaşüntıılıriçişçiğiık_öım_şürş_kıyıgümıışğıtügöçoeğü_düşeüzşıağ_üönşiızşaörçeiğ"
        "ştıyğueşçılüığç_çaükyüaçümuğşlözzıülküöymüoğüynürüısuşeçşmölşkbüğrcıüşpıbösüğlsöğerçşudörşüsüç"
        "fıütçlçüşüköğabı_ııczüıpöğücıdyöuçnççmoşğücükçüğıtösçtötgıhılçüvüphü_İİsİnİlİtİr"
    ),
    "lt": (
        "ų_ą_iųį_išės_įė__šžiči_žnėšidėėjtųš_aždžškėllėašbūjųužrėėtę_ūrtąūsštmėbėkėtėmąūtešsųšavėkąjąžm"
        "ačžažemųnąnųkšsąsėjūtūšvkųęsiąž_ėmūnmūrąįsičkū_črūiūpėrųįvšegųnįežečėrršūkgėlųžoėdnčžutįnęrįūd"
        "ąjžnlįšožyėgjįląėnšyėkdųščųjšsržįrždgątędąšlžkšusčbąšįėvžtžvyčšėvęvųučžsošvąkįlęįtįmbųžėušsūąs"
        "kę_ūšmėžjėbęmžožįžyščeręšrūpižūlįkjęsįdįč_šgmęįgrčįdsęūšlūpšyžūzzėpąūm_ė"
    ),
    "lv": (
        "ā_tākārīnāākāsjāārrāībādpēvēiņmāājāt_šējtīīgī_līētāmšaītērmēēllāzīūsbūpāūtšilēdāīdālē_dīešēcīv"
        "vānīņabādēsārēācš_šoēsgācīīsšuēmtēēkošījjūašļaņuāpzēāvmūģiaļsēšākšīmršļu_ļšī_āsīkļļomīķiņiņšvī"
        "nēīnēdūrān_ībēeļažīkūdtūušņezāežšķlūīrēļīcļ_aņrūeņīzēnčucēiā_čņēžaīlīpačēšļižižācāzņ_ēūkļāžubī"
        "žo_ķāš_ģčeābdžļūišāzēģuāņāēggūsūķeīšpīņo_žūzše_ūķīiļeājēģešseģuļžežē_ņpšēvgšoņūpmšrķoģūvgļū_ūl"
        "ūšēzāišēnūīņīļāņšvuņūn"
    ),
    "vi": (
        "_đà̀_̀niế_á̉_́nước̣c̣ṇ_́tếhưạóộ̣tảệốôñ_́ihôấớhâêǹiờụ̉iể̉nìợđaềậị̉aầđư"
        "̃nhêđôíọ̀umôđêựuôởđiyêú̀ỷitưãứ́ptôhơơnữgưâṇp̀mđâắụồcâcôư_ừvơổòuâsừo_ơđoănặ́u"
        "rưùửôiỉ̉mnăvâtấyũsôâyẽvêhălưnêbốmcưnựuý_ôỏlâămrâô_ằdâdưkêbălêĩ́orêưntêé́alợmâuễ"
        "êủòaơĩaẩẫ̉unôrômơiơrợomặyvư_âơ_đặaỗâmưaẹêm̃isơgôđơbârăbêcơđủymâgâvă"
    ),
    "et": (
        "ärväõiõnäävõsõpääetämääiähtüühäl_õ_ünäkõjäülüüüpkülütõõeõtkäõpädükpõõhläübänõuöölõmõõlässüüsnõ"
        "õrümätüdrätöaõdžõshüämötüg"
    ),
    "sq": "ë_tëërpëjëmëëslënërëhëënëkqëkëëtëm_ësëdëzëëdëf_çbëgë",
    "ga": (
        "í_áiíoá_éanítáéiú_ó_ánaínóláméiúsálíé_hánáúimíóiréúseárá_úríúnrú_émóhéhúmálédáálíl_óféhíátuítú"
        "dútísídéírór_áárínpálúgácédífíséásnúró_íúcíctécáábfósúómtólóúlóghófáítcónébéímíscíónúp"
    ),
    "hr": (
        "št_šžeičćeiš_ččičeašošećšežiač_žš_ožćičkčaažučžaeš_ćočšačnšiđeeđužržć_ićđuućušćaškšnađžnečoćrš"
        "čuođpššlđaežaććuižžučlšćč_šužbčjdžćnždvšrččorđ"
    ),
    "ru": (
        "о_е_и_а__п_в_с_нсттоя_нанов__и_ониенра_кпокой_роовь_не_д_т_мм_гопрт_реостаерликаорвоанотеталол"
        "те_бодва_ры_омтьльдеу_еллеесатоглаитрионсктиныда_чвеакзах_ломе_зин_уойк_обче_гасемс_модокисеил"
        "трсо_аеджеаварл_исмамииебоиятвсяамимиз_е_эвин_азнн_лручтбыдивыслю_икпеейегвссиииэтляьнокоеча_я"
        "ийциднхоадожтсихивпаспекудаякрссевчисашез_ичочыхдубемуый_жаентиртыкунурыопыетуктсьщер_ылгрутзн"
        "_хняят_фд_тнуслуозвнучвлгасвжиезбрабужшиидмыпинсжнгимнбуымбллюцееедлснрнуруюаюачртчнажебоидрьс"
        "суньвргдбиахждрязоайапзвплечупицукщиютбайсглздулиг"
    ),
    "uk": (
        "а_о__ви__п_ні_е_нау__з_тя_ро_св__дсттара_мтиконепоовнопрвіни_уер_кні_ргоен_бтова_іанй_визаь_ор"
        "огдоалом_яідволириреос_ом_атодз_автька_акильх_івї_няолмак_ннонмолащось_щькобякитасціакінрікрло"
        "тетрар_цю_ийинмі_чдебуліди_гдаіскуіллеихмитіимкіадисокд_цеійаммепеивотсян_туляикукмупі_лжеє_ді"
        "вст_чадноїувнусівнаїбосеїнруітвес_чигаутождузн_хіїспбаозудазайемчеилаєьнр_пабіулхонтекетопессл"
        "сиелочшеез_жсооюлюсвсунссаацчнед_йгрьсізснбискікблаг_фбеахьоіяабтвнкж_пийорнньртютачктдлаюурус"
        "кличши_шйнейумчоап_єб_иржнвлуп_їзважжийсічбрвуімць"
    ),
    "bg": (
        "а_е_и__с_но_на_п_в_д_итот_та_о_катнирастотвада_тте_мкав__ззаенконо_епрпоренесея_итриованлиияед"
        "мает_бче_гсис_тивеинавн_виме_чорлеворогоаракм_ал_р_адедиолосаммиелкидомоодгаскласъазърсаоберис"
        "тризесятимщеией_асемилцид_твадог_лк_слонлоичвъик_щже_ул_езднр_биекайпаивнязиойомбечалнбоълз_вс"
        "нткъ_хгрбъожброкиррущоапкрвртъгиу_тнсппепъчиицлкляъмсвзвпизневечътбаус_фопжиктдвоянсабснямсоег"
        "квшедрещешои_жащочъдучмнръщаряждагиддъртякеж_ццеашигчнрнозхожаейтурсъвх_ачявчкг_лгъслувнурфиое"
        "мурвцаглш_блдукуъщвяхаплклиойтацаж_яощсмтясрувшиъз"
    ),
    "mk": (
        "а_е_и_о__нна_с_п_д_и_ватвотот__отакаконитераот_коддаст_мсе_зјавапонеен_тноде_грезапритд__етиов"
        "риакедекмагомеан_бинсовилидоеторлеамровеојавн_осијувисалолштмолаарем_рерскм_диелон_амицикиадј_"
        "биу_огќетрсиимил_јесобиоас_шпагаајлоивбеикдн_ќашгиааизкусабал_боврсл_уомр_идње_ллутвеширгрруок"
        "ањиедрв_ш_чебревоас_к_ицжеоиегнсзнчинтазожшесп_фопичлнвнапаб_чтукрзиебсвжицепеглозгусужаснумчн"
        "езмнишучац_жпиач_цлкусажочејмукектуртнзернушдуигнуугцарвчкртаедвеќшазбечошудшиубплчаблсмтсфиии"
        "оезвагндул"
    ),
    "el": (
        "α__τσ_ι_ν_τοο_ου_σ_π_κ_μ_αε_τηαιναη__εκαστυ_ταειποιαμεαν_δ_νασείτι_οικησισ_γμαηνό_σετεονά_ρα_έ"
        "ροαπατοιερή_γιοσεσριεν_ηίαδε_θντμοπρνονεπασηίνπό_όυσλοδιαλαρούωνυνετιοπεκάλεένκολλρεορ_χέσωσσα"
        "ολω_άνότθαόσί_μέ_βκόυττρέρτάρί_φεπχε_λήσελίσσοπιλατωμιθεράαυκεημνιλάληλισυτόάλέχκήακρόμπιναγομ"
        "ιά_άπάώνάσυμευόνύ__ήαίσινηαμτήυπεκίουρ_υοπτέγοάργεόλητκρχρέλμημάρωάτχοφοσμτίαφργλέσκαθόμνωμόδο"
        "οίπλκιιτοτρώύσώσήτγαχα_ιρέεγπωιδίτλίιμογρηκτρχβασίδανάδηλήώ_ίδπίνέωρζεάδξεγροκύνθένίώρέτθησωήμ"
        "όπνόκλιρφαυλιλλύκέβρσχεμγάγκπέεύτώ_ξλόεξδρχιηρμί_ζ"
    ),
    "he": (
        "_הה_ת_ם__א_ל_בי__מ_של_ותיםר_ו_ן_א__ע_וני_כשללייו_יריאתורביאולאהיולד_רולהנומויייתך_איעלמי_נהולו"
        "שיב_בריהדיוא_חודבוהמתיובמהיש_רשוירעוש__זכל_תזהאלשהמשונק_חוראילתוינ_פנהוןקואנומיןכו_קחישרדוע__ג"
        "יד_דמרפיאחעי_סהאכירהפרושוםלממתוייאסיפוועבלהרבעיבבההשוהשנהתח_באיקקרף_טושאתהקיחרגימעצישבבמרבהבופ"
        "סוווטיוקאממאתררתשמבתוחעםהחהעט_אשימוכאבוסארס_יעמדחדצוהםדריכמצ_צמנלבוצגומקאהלכהגלתערספ_טזומחהפמס"
        "בנהכיחבדחלבששתעבדהעדלחלפתחיפכמוגיסהננתלקהסאםגםהקלערקלשיטללכנץ_הלצרעשרגבחמלחבעתממהזגדנשרכדביצלד"
        "טרלךז_כתפהחתיךהצכבהדמכפעלנג_מבדעפנקבצאלםפשתקבכפתכן"
    ),
    "ar": (
        "ال_اة_ن__ما_ي__ول__أ_ف_لم__بلمر__عمنفيت_لاى_د__ته_ماان_ييةواعللياتلىين_كب_و_ناارريرايا_إلتولأن"
        "_هك_ع_هابااملكلأير_حبيديلعني_قون_سعالل_نكامعابء_قاميس_لسق_ف_دالحلويدوموررةاسسيادلهلقاء_جعننتست"
        "نهسامرلبلنملعدتيإلمويلذاكليو_شهذهميم_رلداعبعائتملف_دقددةبرويحددولةيقيهمستححيلجكنحاعمترروربجاأو"
        "هويعيسوقاحعر_ختومةتعشرمتايتايتتهح_لشلإبلأمقيكواقافركمدعيفالرقو_صنوودتقسللذيكدرجمدمإنض_مححتث_عة"
        "سبوعكرشاوبكيكمبدوتاجبنخلذيج_فرسمذهمكعبوجنسأيهيلصحمطاوساكط_ضابهجدتبلخوفتليفسونداهمجيبقةرجخاخرز_"
        "_ذأسصابة_طزيحرقرقللطبوذلصلنةشيكترفقتوهغيجلقبرساوجي"
    ),
    "fa": (
        "ه__ا_بي_ن_ر__م_دد_ا__كو_ايانت_م__وراار_تبادرست_راز_نز_ين_هبهدا_شمامي_ساسل_ند_خكهامروردريدههاال"
        "برودنيادواونور_آ_پيايدش_يرديتالا_يتوهم_فخو_جليكن_حيكسااهنهمن_گ_ع_چاشناب_تركررهك_ابمو_زبيدوبوكا"
        "س_سيشد_قتهشتاويماتوينمگرمردنفتولمهتيزيجاهرنودميشرمفريتيليهرسنگتمشهشورفوزسرگاتنشمزاخايسافزنق_گي"
        "ييرتقاشامتف_ومع_وسفامدحاشينت_صختكيوشاعيزآنعا_لاقپيط_هيرنملركيگلهپاگ_نشزمبدهنلمفيچهمعدسرب_طنججو"
        "احاخرگوبكتعللوشنيوكشمسبلشرنسشكسوكلمحمشهسچيقيكوجهاكگهبترشپرنكجمگونناصعدعيكسوقكمطراگهدسهسلخينبلب"
        "اجقرقتپسقدسموجبعوهگفآميباطزهزدصوخرج_دگحمرزهوعتنظبخ"
    ),
    "sr": (
        "а_е_и__со_у_је_п_нна_и_д_ј_у_оракода_кстнипооднелитати_тном_капр_мреиј_бовваанмасето_зојла_ври"
        "воинимвивезаенсаосадавтеакдиог_гомробид_моалорат_ред_ајааргоонмеамисн_илемитдоизајлосктретиксу"
        "ердесвциеклештг_обеласаорух_ихњеиот_јуолмијиесј_ивпакир_днгак_дразокбокуицгрслз__л_шс_кеоттуба"
        "врањбрсижезитвнукропичегћеутишац_чвнчичеусудирашбеошез_цлузндуећпуцељесп_њшецапиугев_хжиснупња"
        "_фглјоачпентрв_жебш_апсм_еуннсожћигуозњиљуурчкмуидљасрчауктнубеов_ажучигзезвлнрнујжаблсоулеш_ћ"
        "гиочепагшабуртвуумењчнндрсл_ктшиузђеплељеђзбклужге"
    ),
    "be": (
        "е_а__пя_накараі_па_нь_ы__зліалтане_ада_дцьарльад_свааўаб_мні_касў_аву_ол_вныанстпрма_бенце_гац"
        "рыдзіцскачмелязавыаяроківіін_тае_уьнтыазняамзнаклеікннайлам_о__лыячытрк_га_шн_энілес_ітоз_этся"
        "ылісбаёнй_атапгэўнб_ыцымштсазьбочэчаецагцінькуянзеоўупцацы_я_фзі_чер_ўнувеонэлднядс_ысспнтыдпо"
        "брвябыімекктмясьх_тусі_хш__ц_рноейынццовт_ю_яцдлрэьмтэьёлопед_пэусклжазвэўічконсякпіншшафа_емо"
        "рмммлкашмулыміожорўддоярлюсыжнгльвблівумаюмы_эфіоссэувбядывоўтсумвлуунірснбусейсслгіязьцемўція"
        "дрхвхоодахткяўйтелндчбошшыыкдэючдкўвэкгусцр_уеггбі"
    ),
    "th": (
        "ี่_เ่าน_าน้อทีม่องง_ันไมารือ_ก้า_ไเป่อัสเล้_หัก_กานีผ่ม_รหยนข้สผายอกใช์_ด้_ค่ยย_ถููกียหมต้ลีบ_"
        "ปล่__อี้มาหนกรช้้งุณกตลาตัื่ั้แลหรลืมีา_ได_ส่มางนทใหร์_ตามรืเวอบระ_หู้วั_รส่ัวรัขอลบต์จะ_จน้ับ"
        "บเ่รี_บบาคงห_ม็กผูากล้้ว่งเจเมเรด_อนนใ้ในเจากัเซเนอยรุใสคุ้ไ_พ_ทณาพิเพจ็่ถเกิดอร_ใไป้นค่ค_อ_่เ"
        "รูาใอ็็อูลปรชืบั_โนา่สสา_ว_ปละลงกเอมอัะบหลนร_ยงค_ชคมรี่ใอีครรามูนวงเงกาทะเตรีเกล_แัดสัวลวาเขสำ"
        "ำหนด_ขว่ริเตว__ลทั์ทีกงทดูล_วนลัวเอาป็็นสิ่วูปลขเบร_มดช่นไห้ยกะตั่ิ่นแนขาดจำังิกอเต่วยในหา่ไแบ"
        "ยเสเซ้รถาห้ถด์แกก้ล่่จทำงไรลบอกียววขินเอำเนิปนิทป_มเ_บย่งาิงชัภาต็็มจัเดกแควลดไขติู่ักกออผาเรต"
        "นตล์_นบีโปบรมพออ_ผฟิิล_ดู_ผิพลำนกำไซซตาสวอ์ขดขกทกสัญชีดนทธธิิ์นืโดรกธ์ปแมลจุพัทิเทึ่ดเ์เไฟฟลพ_"
        "_ถยบร้น่นกีนรวคำแปกคนลดพัตงลบหซิเครอดัณไอไงจโมทึนมนยนสปทจจนันธสชทาต_ส__ฟมิ้ำรจดกนนปดวม์ใำสาลไอ"
        "ใดพืะทตาิ_สูิร่นขข็บญชำกชนะลบไอหถึึงึกกใืนสองรร็็จปัมสัมมนนอุลยูิตนึิศศทซสฤษตุรด่ซพฤแนใจัปะรแย"
        "ิมล็อดมืดีดถณสก่ีคดทป้่พพบกหาแ่หว็ะกวกงตลทพาฉั้จุดทรื้้รนุาตนหข_้ทยืยัอตจสาไุกกวัจขึึุ้ม้ต่ตุ่"
        "ิเษ_ทะท่สตยมาพษาย์กนอสุเซีวีจรดแำซ_ธบุจหดาห์่แดืปียะพ์ดองมอคขไงถกกอทะวำล์ฟฟเขันคคลลิีตูทกจบกปิ"
        "ะแแสสดดงงผลกแตีขนจะถยอรทบดสรดลอปงฉ่ทีอัพบคถเวจบวจ_พราะทุุบวิูเเหมััลรงลุสถถานะยไรมกุดผซ็็ตเสมบ"
        "บูถุีดรรรขขาคณณิขนรเวโมง่ผีทอจาจงวซอคา"
    ),
}

# Words of ASCII letters, of the languages above.
WORDS = {
    "de": "die der und in das ich ist nicht zu den von mit es ein auf im sie eine sich auch dem des",
    "fr": "de la le et les est en des un que pas une du il pour dans je qui au ce sur qu",
    "es": "de la que el en los no un se por es del las con una para lo su al como me si",
    "pt": "de que do em da para um uma com no se na por os eu como as mais dos mas foi ao",
    "it": "di che il la in non un per del una le si con della da sono ma al ha come dei se",
    "sv": "det att och jag en inte som med har av om du till den de ett kan vi men man var ska",
    "da": "og er af det at en til jeg har for ikke med den der de du kan som et var vi om",
    "fi": "ja on ei se oli mutta ole kun niin jos ovat voi nyt sen kuin tai en joka olla vain jo kanssa",
    "nl": "de van het een en in is op ik dat voor je te met niet zijn die als er maar om aan",
    "is": "og er sem til en af hann um ekki var fyrir eru eftir svo hefur vera hafa upp ef eins fram voru",
    "nb": "og er det som til en av for ikke med har jeg at de du om den vi fra var kan et",
    "ca": "de la que el en per del un les els una no amb va al es ha com dels hi ser aquest",
    "pl": "nie na to do jest jak ale co tak za od po dla tym czy przez tego ma tylko mi mnie ze",
    "cs": "se na je to si do jsem ale tak pro ve za co jako jak po by od jsou mi jen nebo",
    "sk": "sa na je to ako aj si do som ale po za tak od bol by pre ak alebo nie sme ich",
    "hu": "az nem hogy egy is de meg csak ha van volt ez vagy kell el ki azt most akkor mint ezt minden",
    "sl": "je in na se da so za ki pa tudi lahko ne kot po iz bi bo od tako to pri ali",
    "ro": "de la din pe cu nu mai un este care pentru se au ce fost ca al am sunt fi si va",
    "tr": "ve bir bu de da ile ne daha en gibi olarak her kadar olan ben var ama sonra ki iyi yok ya",
    "lt": "ir kad su yra tai kaip ar buvo savo tik bet nuo ne apie taip lietuvos kai labai per dar gali jau",
    "lv": "un ir ar par ka no uz kas vai bet es nav to tas man ja lai bija ko tikai tad kad",
    "vi": "trong cho khi ra sau nam gia theo anh con sinh trung tin quan ta do hay cao qua em hai xe",
    "hr": "je da se na od za su ne sa iz to kao godine koji kako bi ali nije po do sve bio",
    "en": "the to and of in is for that you it on with this was be as are have at he not by",
    "et": "on ja ei et see kui ka oma mis aga nii veel siis ning selle pole kes palun seda kas",
    "sq": "dhe ne nga me per tek kjo ky si qe janar nuk te ka do mund jo duke por kur cili nje",
    "ga": "an na is ar le go agus do ag as sa nach bhfuil den ach mar ina seo sin don",
}
