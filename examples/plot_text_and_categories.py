"""
A table with text, categories and missing values
================================================

Support tickets have a subject, a product and a number that is sometimes missing. One column holds the
labels of each ticket as a list of names. A scikit-learn pipeline fits this table.
"""

# %%
# Tickets
# -------
# The tickets are simulated: products and words depend on the topics.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mlspl import MLSPLClassifier, metrics
from mlspl.pacing import QuantilePace

random = np.random.default_rng(0)
words = {
    "billing": ["invoice", "charge", "refund", "payment", "card"],
    "login": ["password", "reset", "account", "locked", "code"],
    "crash": ["error", "freeze", "closes", "restart", "bug"],
    "feature": ["please", "add", "option", "wish", "support"],
}
rows = []
for _ in range(600):
    topics = random.choice(list(words), random.choice([1, 2], p=[0.7, 0.3]), replace=False)
    subject = [random.choice(words[topic]) for topic in np.repeat(topics, 2)]
    subject += list(random.choice(["the", "my", "a", "with", "after", "on", "today", "when"], 4))
    phone = "crash" in topics and random.random() < 0.7
    rows.append(
        {
            "subject": " ".join(random.permutation(subject)),
            "product": "phone app" if phone else random.choice(["website", "phone app", "desktop"]),
            "days open": np.nan
            if random.random() < 0.1
            else random.exponential(2 + 3 * ("feature" in topics)),
            "topics": [topic for topic in topics if random.random() > 0.05],  # some are forgotten
        }
    )
tickets = pd.DataFrame(rows, index=[f"T-{number:04d}" for number in range(600)])
print(tickets.head(3).to_string())

# %%
# A pipeline
# ----------
# Each column has its own preprocessing. Y is the column of lists; no binarizer is needed.

columns = make_column_transformer(
    (TfidfVectorizer(), "subject"),
    (OneHotEncoder(handle_unknown="ignore"), ["product"]),
    (make_pipeline(SimpleImputer(), StandardScaler()), ["days open"]),
)
schedule = QuantilePace(0.7, 0.95, 3)  # sparse features are not paced by default
model = make_pipeline(columns, MLSPLClassifier(kernel="linear", schedule=schedule, random_state=0))
known, new = tickets.iloc[:450], tickets.iloc[450:]
model.fit(known, known["topics"])
model

# %%
# Predictions with names
# ----------------------
# Predictions are sets of names, a DataFrame or arrays. The last step of a pipeline gets arrays without an
# index, so the index of the DataFrame is set afterwards.

predictions = new[["subject"]].assign(
    given=new["topics"], predicted=model.predict(new.drop(columns="topics"), output="sets")
)
print(predictions.head(5).to_string())
probabilities = model.predict_proba(new, output="pandas").set_axis(new.index)
print(probabilities.head(3).round(2).to_string())
print(f"macro F1 {metrics.macro_f1(new['topics'], model.predict(new, output='pandas')):.3f}")

# %%
# Forgotten topics
# ----------------
# One topic in twenty was not given (planted noise). If a subject has words of a topic that was not given,
# the loss of the pair is large and its weight small.

classifier = model[-1]
weights = classifier.label_weights_
names = classifier.label_names_
given = np.array([[name in row for name in names] for row in known["topics"]])
mentioned = np.array(
    [[bool({*words[name]} & {*text.split()}) for name in names] for text in known["subject"]]
)
groups = {
    "given": weights[given],
    "absent": weights[~given & ~mentioned],
    "forgotten": weights[~given & mentioned],
}
figure, axis = plt.subplots(figsize=(5, 3.2), layout="constrained")
axis.boxplot(list(groups.values()), whis=(5, 95), showfliers=False)
axis.set_xticks([1, 2, 3], list(groups))
axis.set_ylabel("weight of the (ticket, topic) pair")
plt.show()
