"""The data sets known by name: their published sizes, checksums and addresses."""

from dataclasses import dataclass

from mlspl.errors import UserError, guess

__all__ = ["EMBEDDED", "REGISTRY", "Entry", "find_entry", "list_datasets"]

ADDRESS = "https://raw.githubusercontent.com/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label"

MEKA = "https://sourceforge.net/projects/meka/files/Datasets"
_MUSIC = "https://raw.githubusercontent.com/Waikato/meka/9c85c2ebbb2a2f817eaea10e278e3e2800fed8e6/trunk/data"

EMBEDDED = "digits-traits"
"""The data set that comes with the package."""


@dataclass(frozen=True)
class Entry:
    """A data set as published: size before encoding, label cardinality, and its files.

    A checksum is empty where none is known: it is computed and shown when the file is fetched.
    """

    name: str
    domain: str
    n_rows: int
    n_features: int
    n_labels: int
    cardinality: float
    arff_sha256: str = ""
    xml_sha256: str = ""
    arff_name: str = ""
    xml_name: str | None = ""
    """None for a file of MEKA, which says itself how many labels it has."""
    folder: str = ""

    @property
    def arff(self) -> str:
        """Name of the data file."""
        return self.arff_name or f"{self.name}.arff"

    @property
    def xml(self) -> str | None:
        """Name of the file that names the labels, if there is one."""
        return f"{self.name}.xml" if self.xml_name == "" else self.xml_name

    @property
    def files(self) -> dict[str, str]:
        """File names with their checksums."""
        return {self.arff: self.arff_sha256} | ({} if self.xml is None else {self.xml: self.xml_sha256})

    def address(self, file_name: str) -> str:
        """Where a file of this data set can be downloaded."""
        end = "/download" if self.folder == MEKA else ""
        return f"{self.folder or f'{ADDRESS}/{self.name}'}/{file_name}{end}"


REGISTRY: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "flags",
            "images",
            194,
            19,
            7,
            3.39,
            arff_sha256="d3ed8b5683f1b27e68069aad2c29388bb57d4caa5041b559e646cc3854a0cd1e",
            xml_sha256="7c9ed21a91b716b91f811323e20ee5a260ea2da62a5edcfeb1b91ec855a48f17",
        ),
        Entry(
            "emotions",
            "music",
            593,
            72,
            6,
            1.87,
            arff_sha256="6f2f790047073d1293ac0872c0d55f2dc98b6177802fc96c6b66b309dfee1e4b",
            xml_sha256="dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
        ),
        Entry(
            "scene",
            "images",
            2407,
            294,
            6,
            1.07,
            arff_sha256="5905548975b69b639ab31a295f7bf1ab7379a3f016450012722d28f660f4b143",
            xml_sha256="55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
        ),
        Entry(
            "yeast",
            "biology",
            2417,
            103,
            14,
            4.24,
            arff_sha256="55c07a3b6ff885ae338fb6987a1d57f55572b29809922c2822c4885c61230dd7",
            xml_sha256="c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
        ),
        Entry(
            "medical",
            "text",
            978,
            1449,
            45,
            1.25,
            arff_sha256="ad0630a9a409ed0023c3bb56a0be7610b635c1ca185c6035e3b198b01167aac4",
            xml_sha256="51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
        ),
        Entry(
            "enron",
            "text",
            1702,
            1001,
            53,
            3.38,
            arff_sha256="d0889ef0576d4e7b5ec0df3b3e4760e476ac11a6e7d7ddeee4c4a34470dedf97",
            xml_sha256="ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
        ),
        Entry(
            "bibtex",
            "text",
            7395,
            1836,
            159,
            2.4,
            arff_sha256="a282a6d1fb3cdaf39bde3f81cd4e6079850a7a538a6bc44f8b4ed95dfe1e5014",
            xml_sha256="08fe20013c1e75dcf1888c185f5187c95e76495b8518ce289b4d3afce38d1232",
        ),
        Entry(
            "delicious",
            "text",
            16105,
            500,
            983,
            19.02,
            arff_sha256="b944de0bca910050c11d97eed57d17b073110ea3646a587f3d15d127cf581aab",
            xml_sha256="4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
        ),
        Entry(
            "tmc2007-500",
            "text",
            28596,
            500,
            22,
            2.16,
            arff_sha256="3ea7e95dd80a78a3e7d521d77c3371bfef888da1d364b5a3bb71c7222ad7f013",
            xml_sha256="cb6a67c8ae72fd9b47d89f77aa5b7f6cafb4ba9c20b1124c65a95a3f2caec38d",
        ),
        Entry("birds", "audio", 645, 260, 19, 1.01),
        Entry(
            "cal500",
            "music",
            502,
            68,
            174,
            26.04,
            arff_name="CAL500.arff",
            xml_name="CAL500.xml",
        ),
        Entry(
            "corel5k",
            "images",
            5000,
            499,
            374,
            3.52,
            arff_name="Corel5k-sparse.arff",
            xml_name="Corel5k.xml",
        ),
        Entry("foodtruck", "surveys", 407, 21, 12, 2.29),
        Entry("genbase", "biology", 662, 1186, 27, 1.25),
        Entry("mediamill", "video", 43907, 120, 101, 4.38),
        Entry("bookmarks", "text", 87856, 2150, 208, 2.03),
        Entry("music-meka", "music", 592, 71, 6, 1.87, arff_name="Music.arff", xml_name=None, folder=_MUSIC),
        Entry("imdb", "text", 120919, 1001, 28, 2.0, arff_name="Imdb.arff", xml_name=None, folder=MEKA),
        *(
            Entry(name, "text", *size, arff_name=f"{file}.arff", xml_name=None, folder=MEKA)
            for name, file, size in (
                ("slashdot", "SLASHDOT-F", (3782, 1079, 22, 1.18)),
                ("llog", "LLOG-F", (1460, 1004, 75, 1.18)),
                ("ohsumed", "OHSUMED-F", (13929, 1002, 23, 1.66)),
                ("20ng", "20NG-F", (19300, 1006, 20, 1.03)),
                ("reuters", "REUTERS-K500-EX2", (6000, 500, 103, 1.46)),
            )
        ),
    )
}
"""By name. Sizes are those that Mulan and MEKA publish; where the checksum is pinned, they are checked."""


def list_datasets() -> list[str]:
    """Names that `load_dataset` knows, the embedded one first.

    Examples
    --------
    >>> from mlspl.datasets import list_datasets
    >>> list_datasets()[:4]
    ['digits-traits', 'flags', 'emotions', 'scene']
    """
    return [EMBEDDED, *REGISTRY]


def find_entry(name: str) -> Entry:
    """The entry of that name, or a sentence with the names there are."""
    if name in REGISTRY:
        return REGISTRY[name]
    hint = guess(name, list_datasets())
    raise UserError(f"no data set is called {name!r}.{hint} There are {', '.join(list_datasets())}.")
