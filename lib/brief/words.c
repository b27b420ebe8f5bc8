#include "brief/words.h"

#include <string.h>

#include "brief/chars.h"

/* Words that settings hold and texts about programs are full of. A word
 * that is missing is masked, which costs legibility and no secret; so the
 * list is short and holds nothing that people choose as a password and
 * believe in. Each row begins and ends with a blank. */
static const char *const word[] = {
	" a absent accept access account action actions active activated add"
	" additional address admin administration administrator advanced after"
	" agent all allow allowed also always an and annotation anonymous any"
	" api app append application applications apply approved architecture"
	" archive are argument arguments array as asset assets assistant"
	" assumed at attach attached attribute auth authenticated"
	" authentication authenticator authority authorization authorized auto"
	" automatic automatically available aws azure ",
	" back backend background backup bad base basic be bearer before beta"
	" between bin binary blank block blocked body boolean both bot boundary"
	" branch browser bucket buffer build builder built builtin bundle but"
	" button by bypass cache cached call callback can cancel cancelled"
	" canonical capability category central certificate certificates change"
	" changed changeit changeme changes channel character characters check"
	" checkout choose ci clear client close cloud cluster code collection"
	" column command comment commit common community company complete"
	" component compose computer config configuration configure configured"
	" connect connected connection console constant consumer container"
	" content context continue control controller cookie cookies copy core"
	" correct create created credential credentials current custom customer"
	" customers ",
	" daily dashboard data database date db deactivated debug debugging"
	" decision default defaults define defined delegate delete deleted"
	" delivery demo denied deploy deployer deployment deprecated describe"
	" description desktop destination detail details detect develop"
	" developer developers development device dev dictionary different"
	" digest direct directory disable disabled disallow discovery display"
	" distribution do docker document documentation documents does domain"
	" done down download driver dummy duplicate dynamic each edit editor"
	" either element email embedded empty enable enabled encoded encoding"
	" encrypt encrypted encryption end endpoint enforce enforced engine"
	" enter enterprise entity entry environment environments error errors"
	" everyone event events every example examples exception exclude"
	" excluded execute execution existing expected experimental expired"
	" explicit export extension extensions external extra ",
	" failed fallback false feature features federated fetch field fields"
	" file files filter final find fingerprint first fixed fixture flag"
	" folder following for force format forward foundation framework free"
	" from frontend full function functions gateway general generate"
	" generated generic get github gitlab global google grant granted group"
	" groups guest handler hash header headers hello here hidden history"
	" home host hosted hostname http https id identifier identity if ignore"
	" ignored image immediate implementation implicit import important in"
	" include included index info information inherit inherited initial"
	" inline input insecure insert inside install installation instance"
	" instead integer integration interactive interface internal internet"
	" interval into invalid is issue issuer it item items ",
	" java javascript job join json keep kerberos key keyboard keychain"
	" keyfile keyring keys keystore kubernetes label language last latest"
	" launch layer legacy length less level libsecret library license line"
	" link linux list listener live load loading local localhost location"
	" locked log logger logging login logout machine main maintenance"
	" manage managed management manager manual mandatory master maximum me"
	" member memory message messages metadata method metrics middleware"
	" migration minimum missing mock mode model module monitor monitoring"
	" more mount multiple must my mysql name named namespace native"
	" negative negotiate network never new next nil no node nodejs"
	" none normal not"
	" nothing notification notifications notset now null number ",
	" oauth object of off offline official ok old on once one online only"
	" open operation operations operator optimized option optional options"
	" or oracle order organisation organization origin original other out"
	" output overlay override overview owner package packages page"
	" parameter parameters parent partial partner pass passphrase"
	" passthrough passwd"
	" password passwordless passwords path pattern pending people per"
	" permanent permission permissions permitted persistent person personal"
	" pipeline placeholder plain plaintext platform please plugin policy"
	" pool port portal position positive possible postgres postgresql"
	" predefined preferences preferred prefix present preview primary print"
	" prior private process processing producer product production profile"
	" profiles program programmatic project projects prompt properties"
	" property protected protocol provided provider proxy public publish"
	" published publisher purpose put python query queue quick ",
	" random range read readonly readwrite ready real realtime receive"
	" received recommended record recovery redacted redirect redis"
	" reference refresh region register registered registration"
	" registry regular"
	" relative release remote remove removed render replace replaced"
	" replacement replica repository request requests require required"
	" reserved reset resource resources response rest restart restricted"
	" result results return review revoked role root router routing rules"
	" run running runtime safe same sample sandbox save scheduler schema"
	" scope script search second secondary secret secrets section secure"
	" security select selected self sender sensitive sequence serial server"
	" servers service services session sessions set setting settings setup"
	" shared sharing shell should show shutdown signature signed signing"
	" simple simulator single site skip snapshot software some something"
	" source special specific specified stable staging standalone standard"
	" start starting state statement static statistics status stopped"
	" storage store strict string strong structure subject submit"
	" subscription success successful suffix superuser supervisor support"
	" supported suspended switch symmetric system ",
	" table target task tbd team template temporary terminal test tested"
	" tester testing tests text that the their them there these they this"
	" thread time timeout timestamp title to todo token tokens tool tools"
	" tracking transaction transfer transport trigger true trusted tutorial"
	" two type types unchanged undefined unified unique unknown unlimited"
	" unlocked unrestricted unset until unused update updated upload use"
	" used user username users using utility validate validation value"
	" values variable variables various vault vendor verification verified"
	" verify version video view virtual visible visitor volume waiting was"
	" webhook website welcome when where whether which will window windows"
	" with within without word words work worker workflow workspace write"
	" xxx yes you your zone ",
};

static bool
known(struct hf_str a)
{
	char key[32];

	if (a.n == 0 || a.n > sizeof(key) - 2)
		return false;
	key[0] = key[a.n + 1] = ' ';
	for (size_t i = 0; i < a.n; i++)
		key[i + 1] = (hf_chars(a.s[i]) & HF_CH_UPPER) != 0 ?
		    (char)(a.s[i] - 'A' + 'a') : a.s[i];
	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (hf_str_find(hf_str(word[i]), hf_strn(key, a.n + 2), 0) !=
		    SIZE_MAX)
			return true;
	return false;
}

bool
hf_words_plain(struct hf_str a)
{
	size_t from = 0;

	for (size_t i = 0; i <= a.n; i++) {
		if (i < a.n && (hf_chars(a.s[i]) & HF_CH_LETTER) != 0)
			continue;
		if (i < a.n && memchr(" -_.", a.s[i], 4) == NULL)
			return false;
		if (!known(hf_strn(a.s + from, i - from)))
			return false;
		from = i + 1;
	}
	return true;
}

static bool
encloses(char open, char close)
{
	switch (open) {
	case '<': return close == '>';
	case '{': return close == '}';
	case '[': return close == ']';
	case '(': return close == ')';
	default: return false;
	}
}

bool
hf_words_template(struct hf_str a)
{
	char last = a.n > 0 ? a.s[a.n - 1] : '\0';

	if (a.n == 0 || encloses(a.s[0], last) ||
	    hf_str_starts(a, "\xe2\x80\xa6") ||	/* … */
	    hf_str_starts(a, "\xe2\x80\xa2"))	/* • */
		return true;
	if (hf_chars_same(a) && memchr("xX*.-_?#", a.s[0], 8) != NULL)
		return true;
	if (a.s[0] == '%')
		return a.n < 3 || a.s[1] == '(' || a.s[1] == '{' ||
		    last == '%';
	if (a.s[0] != '$' || a.n < 2)
		return false;
	return encloses(a.s[1], last) || ((hf_chars(a.s[1]) &
	    HF_CH_DIGIT) == 0 && hf_chars_run(a, 1, HF_CH_WORD, a.n) == a.n);
}
